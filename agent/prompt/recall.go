package prompt

import (
	"fmt"
	"slices"
	"strings"

	"github.com/deckhand-bot/deckhand/agent"
)

// How many of the last episodes are told one by one: where the run is planned,
// and where a task of it is worked.
const (
	maxEpisodes     = 4
	maxWorkEpisodes = 2
)

// earlier is what the run knows of earlier runs of its goal, empty if there
// were none. Models wrote most of it, and who knows what they had read: it is
// framed as data.
func earlier(past *agent.Recalled, most int) string {
	if past == nil || len(past.Episodes) == 0 {
		return ""
	}
	var b strings.Builder
	section := func(title string, lines []string) {
		if len(lines) > 0 {
			b.WriteString(title + "\n- " + strings.Join(lines, "\n- ") + "\n")
		}
	}
	section("How it failed before:", precedents(past.Precedents))
	section("The last runs and their outcomes, oldest first:", episodes(past.Episodes[max(0, len(past.Episodes)-most):]))
	section("Lessons that earlier runs left, newest first:", lessons(past.Episodes))
	section("Reports of earlier runs, from worst to best:", outputs(past.Episodes))
	return Frame(strings.TrimSuffix(b.String(), "\n"), agent.Untrusted)
}

func precedents(list []agent.Precedent) []string {
	lines := make([]string, len(list))
	for i, p := range list {
		lines[i] = fmt.Sprintf("%s, %s (%s)", cause(p.Failure), times(len(p.Runs)), evidenceOf(p))
	}
	return lines
}

func times(n int) string {
	if n == 1 {
		return "in 1 earlier run"
	}
	return fmt.Sprintf("the same way in %d earlier runs", n)
}

// evidenceOf names the runs and the events of the newest.
func evidenceOf(p agent.Precedent) string {
	names := make([]string, len(p.Runs))
	for i, r := range p.Runs {
		names[i] = string(r)
	}
	text := strings.Join(names, ", ")
	if len(p.Events) > 0 {
		text += ": events " + strings.Trim(fmt.Sprint(p.Events), "[]")
	}
	return text
}

func cause(f agent.Failure) string {
	if f.What == "" {
		return f.Reason
	}
	return f.What + ": " + f.Reason
}

func episodes(list []agent.Episode) []string {
	lines := make([]string, len(list))
	for i, e := range list {
		line := fmt.Sprintf("%s, run %s: %s, %s", e.Ended.UTC().Format("2006-01-02 15:04"), e.Run, e.State, rating(e))
		if e.Comment != "" {
			line += ", with the comment: " + e.Comment
		}
		parts := []string{line}
		for _, f := range e.Failures {
			parts = append(parts, "failed: "+cause(f))
		}
		lines[i] = strings.Join(parts, "\n  ")
	}
	return lines
}

func rating(e agent.Episode) string {
	if e.Rating == 0 {
		return "not rated"
	}
	return fmt.Sprintf("rated %+d", e.Rating)
}

// maxLessons bounds the lessons that a prompt shows.
const maxLessons = 8

// lessons are the newest, each once.
func lessons(list []agent.Episode) []string {
	var lines, bare []string
	for _, e := range slices.Backward(list) {
		for _, l := range e.Lessons {
			if b := agent.Bare(l); b != "" && !slices.Contains(bare, b) && len(lines) < maxLessons {
				lines, bare = append(lines, l), append(bare, b)
			}
		}
	}
	return lines
}

// outputs are the headlines from the worst to the best: by people's rating,
// then by the outcome, then by age.
func outputs(list []agent.Episode) []string {
	worth := map[agent.RunState]int{agent.RunCancelled: 1, agent.RunDone: 2}
	list = slices.Clone(list)
	slices.SortStableFunc(list, func(a, b agent.Episode) int {
		if a.Rating != b.Rating {
			return a.Rating - b.Rating
		}
		return worth[a.State] - worth[b.State]
	})
	var lines []string
	for _, e := range list {
		if e.Headline != "" {
			lines = append(lines, fmt.Sprintf("%s, %s: %s", e.State, rating(e), e.Headline))
		}
	}
	return lines
}

// maxRemembered is where a remembered text is shortened, in characters.
const maxRemembered = 600

// remembered is what is remembered that may bear on the work, empty for nothing.
// Whoever wrote it, it is framed as data.
func remembered(list []agent.Remembered) string {
	if len(list) == 0 {
		return ""
	}
	lines := make([]string, len(list))
	for i, m := range list {
		from := m.Kind
		if m.Speaker != "" {
			from += ", from " + m.Speaker
		}
		if !m.Time.IsZero() {
			from += ", " + m.Time.UTC().Format("2006-01-02")
		}
		lines[i] = fmt.Sprintf("- [%s] (%s, %s) %s", m.ID, from, m.Trust, Shorten(m.Text, maxRemembered))
	}
	return Frame(strings.Join(lines, "\n"), agent.Untrusted)
}
