package authority

import (
	"slices"
	"strings"
	"testing"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/bot"
)

// member is a full member of the workspace.
func member(id string) bot.Person { return bot.Person{ID: id, Full: true} }

// Who may do what. The requester is slack:U1, the operator slack:U7, the
// approver of the configuration slack:U5, the approver of the run slack:U6,
// and slack:U9 is somebody in the thread.
func TestAuthority(t *testing.T) {
	const effects = "approval plan uncertain"
	for _, tt := range []struct {
		name      string
		authority Authority
		approvers []string // of the run
		kinds     string
		may       string
	}{
		{"asking back", Authority{Operators: []string{"slack:U7"}}, nil, "clarify stuck", "U1 U7"},
		{"asking back, with approvers", Authority{Operators: []string{"slack:U7"}, Approvers: []string{"slack:U5"}}, nil, "clarify stuck", "U1 U7"},
		{"money", Authority{Operators: []string{"slack:U7"}}, nil, "budget", "U1 U7"},
		{"money, with approvers", Authority{Operators: []string{"slack:U7"}, Approvers: []string{"slack:U5"}}, nil, "budget", "U5 U7"},
		{"money, approvers of the run", Authority{Approvers: []string{"slack:U5"}}, []string{"slack:U6"}, "budget", "U6"},
		{"effects", Authority{Operators: []string{"slack:U7"}, RequesterMayApprove: true}, nil, effects, "U1 U7"},
		{"effects, four eyes", Authority{Operators: []string{"slack:U7"}}, nil, effects, "U7"},
		{"effects, four eyes, the requester is an operator", Authority{Operators: []string{"slack:U1", "slack:U7"}}, nil, effects, "U7"},
		{"effects, with approvers", Authority{Operators: []string{"slack:U7"}, Approvers: []string{"slack:U5"}, RequesterMayApprove: true}, nil, effects, "U5"},
		{"effects, approvers of the run", Authority{Approvers: []string{"slack:U5"}, RequesterMayApprove: true}, []string{"slack:U6"}, effects, "U6"},
		{"effects, the requester approves", Authority{Approvers: []string{"slack:U1", "slack:U5"}, RequesterMayApprove: true}, nil, effects, "U1 U5"},
		{"effects, the requester approves, four eyes", Authority{Approvers: []string{"slack:U1", "slack:U5"}}, nil, effects, "U5"},
		{"bare ids are of any platform", Authority{Approvers: []string{"U5"}}, nil, effects, "U5"},
		{"ids of another platform", Authority{Approvers: []string{"discord:U5"}, Operators: []string{"discord:U7"}}, nil, effects, ""},
		{"nobody", Authority{}, nil, effects, ""},
		{"an empty entry is nobody", Authority{Approvers: []string{""}}, nil, effects, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := agent.Run{Brief: agent.RunStarted{Requester: "slack:U1", Approvers: tt.approvers}}
			for kind := range strings.FieldsSeq(tt.kinds) {
				for _, id := range []string{"U1", "U5", "U6", "U7", "U9"} {
					want := strings.Contains(tt.may, id)
					if got := tt.authority.MayDecide(r, agent.CheckpointKind(kind), member("slack:"+id)); got != want {
						t.Errorf("slack:%s may decide %s: %v, want %v", id, kind, got, want)
					}
				}
				if !tt.authority.MayDecide(r, agent.CheckpointKind(kind), member(bot.Terminal)) {
					t.Errorf("the person at the command line may not decide %s", kind)
				}
				for _, by := range []string{"", "slack:", "U1", "discord:U1"} {
					if tt.authority.MayDecide(r, agent.CheckpointKind(kind), member(by)) {
						t.Errorf("%q may decide %s", by, kind)
					}
				}
			}
		})
	}
}

func TestSteering(t *testing.T) {
	r := agent.Run{Brief: agent.RunStarted{Requester: "slack:U1", Approvers: []string{"slack:U6"}}}
	a := Authority{Operators: []string{"U7", "discord:&42"}, Approvers: []string{"slack:U5"}}
	for by, want := range map[string]bool{
		"slack:U1": true, "slack:U7": true, "discord:U7": true, "discord:&42": true, bot.Terminal: true,
		"slack:U5": false, "slack:U6": false, "slack:U9": false, "discord:U1": false, "": false, "slack:": false,
	} {
		if got := a.MaySteer(r, member(by)); got != want {
			t.Errorf("%q steers: %v, want %v", by, got, want)
		}
	}
}

// Groups count like their members; who is no full member decides about money
// and effects only where a list names them; bots decide nothing.
func TestAuthorityOfGroupsGuestsAndBots(t *testing.T) {
	own := bot.Person{ID: "slack:U1"} // the requester, as a guest
	r := agent.Run{Brief: agent.RunStarted{Requester: own.ID}}
	for _, tt := range []struct {
		name string
		a    Authority
		by   bot.Person
		may  string
	}{
		{"a guest's own run", Authority{RequesterMayApprove: true}, own, "clarify stuck"},
		{"a guest who is named", Authority{Approvers: []string{"slack:U1"}, RequesterMayApprove: true}, own, "clarify stuck budget approval plan uncertain"},
		{"a member of an approving group", Authority{Approvers: []string{"slack:S1"}}, bot.Person{ID: "slack:U2", Also: []string{"slack:S1"}}, "budget approval plan uncertain"},
		{"a group by its bare id", Authority{Operators: []string{"S1"}}, bot.Person{ID: "slack:U2", Also: []string{"slack:S1"}, Full: true}, "clarify stuck budget approval plan uncertain"},
		{"a group of another platform", Authority{Approvers: []string{"slack:S1"}}, bot.Person{ID: "discord:2", Also: []string{"discord:&S1"}, Full: true}, ""},
		{"four eyes by way of a group", Authority{Approvers: []string{"slack:S1"}}, bot.Person{ID: "slack:U1", Also: []string{"slack:S1"}, Full: true}, "clarify stuck budget"},
		{"a bot that is listed everywhere", Authority{Approvers: []string{"slack:B1"}, Operators: []string{"slack:B1"}, AllowBots: []string{"slack:B1"}}, bot.Person{ID: "slack:B1", Full: true, Bot: true}, ""},
		{"an empty entry and an empty group", Authority{Approvers: []string{""}, Operators: []string{""}}, bot.Person{ID: "slack:U2", Also: []string{"", "slack:"}, Full: true}, ""},
	} {
		for _, kind := range []agent.CheckpointKind{agent.CheckClarify, agent.CheckStuck, agent.CheckBudget, agent.CheckApproval, agent.CheckPlan, agent.CheckUncertain} {
			if want, got := strings.Contains(tt.may, string(kind)), tt.a.MayDecide(r, kind, tt.by); got != want {
				t.Errorf("%s: may decide %s: %v, want %v", tt.name, kind, got, want)
			}
		}
	}
}

func TestWhoStarts(t *testing.T) {
	robot := bot.Person{ID: "slack:B1", Bot: true}
	for _, tt := range []struct {
		name string
		a    Authority
		by   bot.Person
		want bool
	}{
		{"a full member", Authority{}, member("slack:U1"), true},
		{"a guest", Authority{}, bot.Person{ID: "slack:U1"}, false},
		{"a guest who is listed", Authority{Start: []string{"U1"}}, bot.Person{ID: "slack:U1"}, true},
		{"a member who is not listed", Authority{Start: []string{"U1"}}, member("slack:U2"), false},
		{"an operator", Authority{Start: []string{"U1"}, Operators: []string{"U2"}}, member("slack:U2"), true},
		{"a member of a listed group", Authority{Start: []string{"discord:&5"}}, bot.Person{ID: "discord:1", Also: []string{"discord:&5"}}, true},
		{"a bot", Authority{}, robot, false},
		{"a bot that is listed as a person", Authority{Start: []string{"B1"}}, robot, false},
		{"a bot that is allowed", Authority{AllowBots: []string{"slack:B1"}}, robot, true},
		{"the terminal", Authority{Start: []string{"U1"}}, member(bot.Terminal), true},
	} {
		if got := tt.a.MayStart(bot.Address{Platform: "slack", Workspace: "T1", Channel: "C1"}, tt.by); got != tt.want {
			t.Errorf("%s starts runs: %v, want %v", tt.name, got, tt.want)
		}
	}
}

// What is configured for a place goes before what is configured for all, and
// for a channel before its whole workspace.
func TestAuthorityOfAPlace(t *testing.T) {
	a := Authority{Start: []string{"slack:U1"}, Operators: []string{"slack:U2"}, Approvers: []string{"slack:U3"}, RequesterMayApprove: true,
		Places: map[string]Place{
			"slack:T1":    {Operators: []string{"slack:U4"}, Approvers: []string{"slack:U5"}},
			"slack:T1:C1": {Start: []string{"slack:U6"}, Approvers: []string{"slack:U7"}},
		}}
	for _, tt := range []struct{ where, start, operator, approver string }{
		{"slack:T1:C1:17.1", "slack:U6", "slack:U4", "slack:U7"},
		{"slack:T1:C1:", "slack:U6", "slack:U4", "slack:U7"},
		{"slack:T1:C2:17.1", "slack:U1", "slack:U4", "slack:U5"},
		{"slack:T2:C1:17.1", "slack:U1", "slack:U2", "slack:U3"},
		{"", "slack:U1", "slack:U2", "slack:U3"},
	} {
		r := agent.Run{Brief: agent.RunStarted{Requester: "slack:U0", ReplyTo: tt.where}}
		where, _ := bot.ParseAddress(tt.where)
		for _, id := range []string{"slack:U1", "slack:U2", "slack:U3", "slack:U4", "slack:U5", "slack:U6", "slack:U7"} {
			p := bot.Person{ID: id, Full: true}
			if got, want := a.MayStart(where, p), id == tt.start || id == tt.operator; got != want {
				t.Errorf("%s starts in %q: %v", id, tt.where, got)
			}
			if got, want := a.MaySteer(r, p), id == tt.operator; got != want {
				t.Errorf("%s steers in %q: %v", id, tt.where, got)
			}
			if got, want := a.MayDecide(r, agent.CheckApproval, p), id == tt.approver; got != want {
				t.Errorf("%s approves in %q: %v", id, tt.where, got)
			}
		}
		if got := a.Audience(r, agent.CheckApproval); tt.where != "" && !slices.Equal(got, []string{tt.approver}) {
			t.Errorf("asked in %q: %q", tt.where, got)
		}
	}
}

// A private thread is a place of its own for what is told, under its channel's rules.
func TestPrivatePlaces(t *testing.T) {
	t.Parallel()
	a := Authority{Places: map[string]Place{"discord:1:5": {Start: []string{"discord:7"}, Operators: []string{"discord:8"}}}}
	private := bot.Address{Platform: "discord", Workspace: "1", Channel: "5+77", ID: "77"}
	for id, may := range map[string]bool{"discord:7": true, "discord:8": true, "discord:9": false} {
		if got := a.MayStart(private, bot.Person{ID: id, Full: true}); got != may {
			t.Errorf("%s may start in the private thread: %t", id, got)
		}
	}
	r := agent.Run{Brief: agent.RunStarted{ReplyTo: private.String()}}
	if LivesAt(r, bot.Address{Platform: "discord", Workspace: "1", Channel: "5", ID: "9"}) {
		t.Error("what lives in a private thread lives in its channel")
	}
	if !LivesAt(r, private) || !a.MaySteer(r, bot.Person{ID: "discord:8"}) {
		t.Error("it does not live in its thread, or the channel's operator may not steer it")
	}
	if private.Own() != "77" || private.Rules() != "discord:1:5" || !private.Inner() || private.Folder() != "discord-5+77" {
		t.Errorf("it is %s under %s, in %s", private.Own(), private.Rules(), private.Folder())
	}
}
