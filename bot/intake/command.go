package intake

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"unicode"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/bot"
	"github.com/deckhand-bot/deckhand/bot/authority"
	"github.com/deckhand-bot/deckhand/bot/card"
	"github.com/deckhand-bot/deckhand/bot/lookup"
	"github.com/deckhand-bot/deckhand/bot/recurring"
	"github.com/deckhand-bot/deckhand/bot/remember"
	"github.com/deckhand-bot/deckhand/bot/runs"
	"github.com/deckhand-bot/deckhand/bot/text"
)

// command is a word that people give the bot. In a sentence a word counts as a
// command only where what follows it can be nothing else; behind the
// platform's own command it always counts.
type command struct {
	word  string
	also  string // another word for it
	usage string // its line of help; empty: it is not in the list
	does  string
	// exact marks the control words: alone they count before anything else.
	exact bool
	// main marks the few that help begins with, by the words in it.
	main string
	// fits reports whether the text after the word is what the command takes.
	fits func(rest string) bool
	do   func(req call, ctx context.Context, rest string) (bot.Answer, error)
}

// commands is the one list of what the bot understands.
func commands() []command {
	return []command{
		{word: "run", usage: "run GOAL", does: "starts a run", fits: never, do: call.run},
		{word: "status", usage: "status [RUN]", does: "where a run stands", exact: true, main: "status", fits: aRun, do: show(showStatus)},
		{word: "runs", usage: "runs", does: "lists your runs", main: "runs", fits: nothing, do: call.runs},
		{word: "plan", usage: "plan [RUN]", does: "the plan and what is done of it", fits: aRun, do: show(showPlan)},
		{word: "approve", usage: "approve [QUESTION]", does: "approves what is asked", fits: aQuestion, do: decides(agent.DecideApprove)},
		{word: "deny", usage: "deny [QUESTION] [REASON]", does: "denies what is asked, and says why", fits: aQuestion, do: decides(agent.DecideDeny)},
		{word: "steer", usage: "steer TEXT", does: "tells a run something on its way", fits: anything, do: call.steer},
		{word: "pause", also: "stop", usage: "pause [RUN]", does: "pauses a run (stop does the same)", exact: true, main: "stop", fits: aRun, do: controlling(agent.WordPause)},
		{word: "resume", usage: "resume [RUN]", does: "lets a paused run go on", exact: true, main: "resume", fits: aRun, do: controlling(agent.WordResume)},
		{word: "cancel", usage: "cancel [RUN]", does: "ends a run", exact: true, main: "cancel", fits: aRun, do: controlling(agent.WordCancel)},
		{word: "budget", usage: "budget [RUN]", does: "what a run has spent, of what", fits: aRun, do: show(showBudget)},
		{word: "permissions", usage: "permissions [RUN]", does: "what a run may do, and who decides about the rest", fits: aRun, do: show(showPermissions)},
		{word: "watch", usage: "watch RUN", does: "shows a run of another place here, too", fits: aNamedRun, do: call.watch},
		{word: "why", also: "?", usage: "why [RUN]", does: "the newest calls of a run, and why they were made", fits: aRun, do: call.why},
		{word: "tools", usage: "tools [list|show|search|check]", does: "the tools that runs have", fits: isToolsOrder, do: call.tools},
		{word: "help", usage: "help [all|COMMAND]", does: "what I understand", exact: true, fits: isHelpTopic, do: call.help},
		{word: "report", usage: "report WHEN [ZONE] [here|#channel] [always]", does: "tells again and again where things stand; also `report now`, `list` and `change|pause|resume|remove NAME`",
			fits: isReportOrder, do: scheduling(recurring.ReportKind)},
		{word: "schedule", usage: "schedule WHEN: GOAL", does: "works on a goal again and again; also `schedule list` and `change|pause|resume|remove NAME`",
			fits: isGoalOrder, do: scheduling(recurring.GoalKind)},
		{word: "audit", fits: nothing, do: call.audit}, // administrators know of it from the documentation
		{word: "remember", usage: "remember [for me:|for everyone:] TEXT", does: "keeps something for later runs", fits: isToRemember, do: call.remember},
		{word: "memory", usage: "memory [mine|search WORDS|show ID]", does: "what is remembered here; also `memory pin|unpin|forget ID` and `memory correct ID: TEXT`",
			fits: isMemoryOrder, do: call.memory},
	}
}

// commandOf is the command that the word names in any case, nil if none.
func commandOf(word string) *command {
	word = strings.ToLower(word)
	for _, c := range commands() {
		if word != "" && (c.word == word || c.also == word) {
			return &c
		}
	}
	return nil
}

// controlWord is the command of a text that is one of the exact control words
// and nothing else but case, space and what is no letter behind it.
func controlWord(text string) *command {
	word := strings.TrimRightFunc(strings.TrimSpace(text), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsNumber(r) })
	if c := commandOf(word); c != nil && c.exact {
		return c
	}
	return nil
}

// spokenCommand is the command of a text that was said to the bot, nil if it
// says something else.
func spokenCommand(text string) (c *command, rest string) {
	word, rest := firstWord(text)
	c = commandOf(word)
	if c == nil {
		c = commandOf(strings.TrimRight(word, ".!?,:;"))
		if c == nil || (rest != "" && c.word != "steer") {
			return nil, ""
		}
	}
	if !c.fits(rest) && rest != "" {
		return nil, ""
	}
	return c, rest // a word alone is no goal: what it needs is said
}

// call is a command that somebody gave, in whatever way.
type call struct{ decider }

// receive takes in what stands behind the platform's own command.
func (req call) receive(ctx context.Context, line string) (bot.Answer, error) {
	line = strings.TrimSpace(strings.ToValidUTF8(line, "\uFFFD"))
	word, rest := firstWord(line)
	if c := commandOf(word); c != nil {
		return c.do(req, ctx, rest)
	}
	if c := controlWord(line); c != nil {
		return c.do(req, ctx, "")
	}
	if line == "" {
		return req.help(ctx, "")
	}
	return private("I do not know the command %s. To start a run, put `run` in front of the goal; `help all` lists the commands.", text.Quoted(word, 40)), nil
}

// run starts a run, or asks for the goal.
func (req call) run(ctx context.Context, goal string) (bot.Answer, error) {
	if _, said := req.in.Act.(bot.Said); said && goal == "" {
		return req.greeting(), nil // a message opens no form
	}
	if goal == "" {
		return req.ask(ctx)
	}
	old, live, err := req.resident(ctx)
	if err != nil {
		return bot.Answer{}, err
	}
	return newGoal{request: req.request, goal: goal, old: old, apart: live}.start(ctx)
}

// runs lists the person's runs.
func (req call) runs(ctx context.Context, _ string) (bot.Answer, error) {
	mine, err := req.requested(ctx, req.in.By)
	if err != nil {
		return bot.Answer{}, err
	}
	list := make([]card.Status, len(mine))
	elsewhere := false
	for i, r := range mine {
		list[i] = card.StatusOf(r)
		elsewhere = elsewhere || !authority.LivesAt(r, req.in.Where)
	}
	return bot.Answer{Private: bot.Markdown(card.Runs(list, req.now)), Confidential: elsewhere}, nil
}

// steer tells a run something on its way.
func (req call) steer(ctx context.Context, text string) (bot.Answer, error) {
	if text == "" {
		return private("Say what I should know: `steer TEXT`."), nil
	}
	r, err := req.target(ctx, "")
	if err != nil {
		return bot.Answer{}, err
	}
	if c, is := req.in.Act.(bot.Commanded); is && c.Only && r.Ended == nil {
		return message(req).read(ctx, bot.Said{Text: text, To: true, Direct: c.Direct}, r, true)
	}
	return req.steerRun(ctx, r, text)
}

// controls is a command that pauses, resumes or cancels.
func controlling(word agent.Word) func(req call, ctx context.Context, rest string) (bot.Answer, error) {
	return func(req call, ctx context.Context, rest string) (bot.Answer, error) {
		r, err := req.target(ctx, rest)
		if err != nil {
			return bot.Answer{}, err
		}
		return req.control(ctx, r.ID, word)
	}
}

// decides is a command that decides a question: the one that is named, else
// the oldest of the run that takes the word.
func decides(word string) func(req call, ctx context.Context, rest string) (bot.Answer, error) {
	return func(req call, ctx context.Context, rest string) (bot.Answer, error) {
		id, text := firstWord(rest)
		if checkPattern.MatchString(id) {
			return req.decide(ctx, agent.CheckpointID(id), agent.CheckpointDecided{Decision: word, Text: text})
		}
		r, err := req.target(ctx, "")
		if err != nil {
			return bot.Answer{}, err
		}
		var takers []taker
		for _, c := range r.OpenCheckpoints() {
			if meant, takes := runs.ChoiceOf(c, word); takes && r.Ended == nil {
				takers = append(takers, taker{c, meant, rest})
			}
		}
		if len(takers) == 0 {
			return bot.Answer{Run: r.ID, Private: "No open question here can be answered with that, so nothing is decided. `status` shows where the run stands."}, nil
		}
		return req.settle(ctx, r, word, takers)
	}
}

// scheduling is a command about schedules of the kind.
func scheduling(kind recurring.Kind) func(req call, ctx context.Context, rest string) (bot.Answer, error) {
	return func(req call, ctx context.Context, rest string) (bot.Answer, error) {
		return scheduleOrder{req.request, kind}.receive(ctx, rest)
	}
}

// showing is what can be shown of a run.
type showing string

const (
	showStatus      showing = "status"
	showPlan        showing = "plan"
	showBudget      showing = "budget"
	showPermissions showing = "permissions"
)

// show is a command that shows something of a run.
func show(what showing) func(req call, ctx context.Context, rest string) (bot.Answer, error) {
	return func(req call, ctx context.Context, rest string) (bot.Answer, error) {
		r, err := req.target(ctx, rest)
		if err != nil {
			return bot.Answer{}, err
		}
		if what == showStatus && req.showsCard(r) {
			return req.showCard(ctx, r)
		}
		return req.shown(r, what), nil
	}
}

// maxCards is how many cards beside the first somebody can have shown by asking
// where a run stands: each is one more message to keep up to date.
const maxCards = 4

// showsCard reports whether a question where the run stands is answered by a card
// of the run's own: asked aloud, where it lives, of a run that goes on.
func (req call) showsCard(r agent.Run) bool {
	_, said := req.in.Act.(bot.Said)
	return said && req.in.Message.ID != "" && req.chosen == "" && r.Ended == nil && r.Cancelled == nil && !r.Scheduled() &&
		r.Strands.Has(agent.Voice) && authority.LivesAt(r, req.in.Where) && len(r.Further)+len(r.Unreported) < maxCards
}

// showCard lets the run show its card here, and keep it up to date as its first one.
func (req call) showCard(ctx context.Context, r agent.Run) (bot.Answer, error) {
	watched := agent.RunWatched{Where: req.in.Where.String(), By: req.in.By.ID, CardOnly: true}
	return bot.Answer{Run: r.ID}, req.wrote(req.cfg.Runs.Watch(ctx, r, watched, req.dedupe))
}

func (req *request) show(ctx context.Context, run agent.RunID, what showing) (bot.Answer, error) {
	r, err := req.visible(ctx, run)
	if err != nil {
		return bot.Answer{}, err
	}
	return req.shown(r, what), nil
}

func (req *request) shown(r agent.Run, what showing) bot.Answer {
	var c bot.Card
	switch what {
	case showStatus:
		c = card.Standing(r, req.now)
		c.Parts = slices.DeleteFunc(c.Parts, isButtons) // nobody would take them away
	case showPlan:
		c = card.Plan(r)
	case showBudget:
		c = card.Budget(r)
	case showPermissions:
		c = card.Permissions(r, req.rules(r), req.cfg.Runs.Authority.Audience)
	}
	return req.answer(r.ID, c)
}

// rules are the rules of this installation that count for the run.
func (req *request) rules(r agent.Run) []string {
	if req.cfg.Rules == nil {
		return nil
	}
	return req.cfg.Rules(r)
}

func isButtons(p bot.Part) bool {
	_, are := p.(bot.Buttons)
	return are
}

// watch shows a run here, too. Who may not look at the run cannot have it shown.
func (req call) watch(ctx context.Context, named string) (bot.Answer, error) {
	if named == "" {
		return private("Say which run: `watch RUN`. `runs` lists yours."), nil
	}
	r, err := req.target(ctx, named)
	if err != nil {
		return bot.Answer{}, err
	}
	where, err := req.place(ctx)
	if err != nil {
		return bot.Answer{}, err
	}
	if r.Ended != nil {
		return bot.Answer{Run: r.ID, Private: "That run has ended: there is nothing left to watch. `status` shows how it went."}, nil
	}
	if !authority.LivesAt(r, where) && !req.cfg.Runs.Authority.MayShow(r, req.in.By) {
		req.log("showing a run elsewhere was refused", r)
		return bot.Answer{Run: r.ID, Private: req.showers(r)}, nil
	}
	err = req.cfg.Runs.Watch(ctx, r, agent.RunWatched{Where: where.String(), By: req.in.By.ID}, req.dedupe)
	if req.wrote(err) != nil {
		return bot.Answer{}, err
	}
	return req.acknowledge(r.ID, "Its card is shown here, too."), nil
}

// allCommands is the word behind help that lists all commands.
const allCommands = "all"

// isHelpTopic reports whether the text after "help" is what help knows more about;
// anything else after the word is a goal.
func isHelpTopic(rest string) bool {
	return strings.EqualFold(rest, allCommands) || commandOf(strings.Trim(rest, "`")) != nil
}

// help begins with sentences that can be said here and the few commands that
// matter; with a word behind it, it tells of that command or of all.
func (req call) help(ctx context.Context, topic string) (bot.Answer, error) {
	here, live, err := req.resident(ctx)
	if err != nil {
		return bot.Answer{}, err
	}
	if topic == "" {
		return req.answer(here.ID, card.Help(suggester{req.request}.examples(here, live), helpLines(func(c command) bool { return c.main != "" }, true))), nil
	}
	about := commandOf(strings.Trim(topic, "`"))
	list := helpLines(func(c command) bool { return about == nil || c.word == about.word }, false)
	if len(list) == 0 || about == nil && !strings.EqualFold(topic, allCommands) {
		return private("I do not know the command %s. `help all` lists what there is.", text.Quoted(topic, 40)), nil
	}
	return req.answer(here.ID, card.Commands(list)), nil
}

// helpLines are the commands of help that are wanted: by their bare words, or
// with what fits behind them.
func helpLines(wanted func(command) bool, bare bool) []card.Command {
	var list []card.Command
	for _, c := range commands() {
		if c.usage == "" || !wanted(c) {
			continue
		}
		line := card.Command{Usage: c.usage, Does: c.does}
		if bare {
			line.Usage, line.Does = c.main, strings.TrimSuffix(c.does, " (stop does the same)")
		}
		list = append(list, line)
	}
	return list
}

// greeting answers a mention that says nothing.
func (req call) greeting() bot.Answer {
	return private("I am %s. Tell me what is to be done, and I work on it in a thread; `help` shows what you can say.", text.Escape(req.cfg.Name))
}

// audit shows an administrator their own newest decisions.
func (req call) audit(ctx context.Context, _ string) (bot.Answer, error) {
	if req.in.By.Bot || !authority.Includes(req.cfg.Runs.Authority.Admins, req.in.By) || req.cfg.Decisions == nil {
		return private("Only the administrators of this installation (`authority.admins`) may look at the audit, and each at their own decisions."), nil
	}
	lines, err := req.cfg.Decisions(ctx, req.in.By.ID)
	if err != nil {
		return bot.Answer{}, err
	}
	if len(lines) == 0 {
		return private("There is no newer decision of yours in the audit chain. `deckhand audit export` prints all there are."), nil
	}
	for i, line := range lines {
		lines[i] = "- " + text.Escape(line)
	}
	return private("Your newest decisions, the newest first:\n%s", strings.Join(lines, "\n")), nil
}

// isToolsOrder reports whether the text after "tools" is an order about them.
func isToolsOrder(rest string) bool {
	word, _ := firstWord(rest)
	return slices.Contains([]string{"list", "show", "search", "check", "accept"}, strings.ToLower(word))
}

// tools answers a question about the tools that runs have.
func (req call) tools(ctx context.Context, rest string) (bot.Answer, error) {
	admin := !req.in.By.Bot && authority.Includes(req.cfg.Runs.Authority.Admins, req.in.By)
	told, err := req.cfg.Tools.Answer(ctx, rest, admin)
	return bot.Answer{Private: told}, err
}

// why tells why a run did what it did.
func (req call) why(ctx context.Context, named string) (bot.Answer, error) {
	r, err := req.target(ctx, named)
	if err != nil {
		return bot.Answer{}, err
	}
	events, err := req.cfg.Runs.Journals.Read(ctx, r.ID, 0)
	if err != nil {
		return bot.Answer{}, err
	}
	return bot.Answer{Run: r.ID, Private: lookup.Why(events)}, nil
}

// noMemory is said where nothing is remembered at all.
const noMemory = "Nothing is remembered in this installation."

// remember keeps what the person says, or the message that they chose.
func (req call) remember(ctx context.Context, what string) (bot.Answer, error) {
	return req.aboutMemory(ctx, what, remember.Desk.Remember)
}

// memory shows and changes what is remembered here.
func (req call) memory(ctx context.Context, rest string) (bot.Answer, error) {
	return req.aboutMemory(ctx, rest, remember.Desk.Receive)
}

// aboutMemory gives an order about memory. Whoever may not start runs here does
// not tell later runs what to know.
func (req call) aboutMemory(ctx context.Context, rest string, do func(remember.Desk, context.Context, remember.Order, string) (string, error)) (bot.Answer, error) {
	where, err := req.place(ctx)
	if err != nil {
		return bot.Answer{}, err
	}
	rights := req.cfg.Runs.Authority
	switch {
	case req.cfg.Memory == nil:
		return private(noMemory), nil
	case req.in.By.Bot || !rights.MayStart(where, req.in.By):
		return private("You may not tell me what to remember here. %s.", req.starters(where)), nil
	}
	o := remember.Order{By: req.in.By, At: where, Keeper: authority.Includes(rights.Admins, req.in.By), Said: req.in.At, Message: req.in.Message.String()}
	if c, is := req.in.Act.(bot.Commanded); is && c.Quote != "" {
		o.Quote = c.Quote
		if namer, can := req.platform(c.Quote).(bot.Namer); can {
			o.Name = namer.NameOf(ctx, c.Quote)
		}
	}
	if linker, can := req.platform(where.Platform + ":").(bot.Linker); can && req.in.Message.ID != "" {
		o.Message = cmp.Or(linker.Link(req.in.Message), o.Message)
	}
	told, err := do(remember.Desk{Store: req.cfg.Memory}, ctx, o, rest)
	return bot.Answer{Private: told, Confidential: true}, err
}
