package index_test

// The corpus: conversations of pairs of people over many sessions, with
// questions in other words than what answers them, and the turns that do. Most
// of it is made from topics that were written by hand (testdata/topics.txt) with
// small talk around them, so that each topic has rivals: the other one of a pair
// tells of the same topics on other days. Eighteen topics with the two pairs that
// tell of them, and half of the dialogues that were written whole, are held out:
// no table and no weight was chosen by them.

import (
	"fmt"
	"math/rand/v2"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/deckhand-bot/deckhand/agent/records"
)

// conversation is a set of turns with questions about them.
type conversation struct {
	name  string
	held  bool
	turns []records.Record
	asked []question
}

// question is what is asked, and the ids of the turns that answer it.
type question struct {
	text     string
	evidence []string
}

const corpusScope = records.TerminalWorkspace

func lines(t testing.TB, file string) []string {
	t.Helper()
	data, err := os.ReadFile("testdata/" + file)
	if err != nil {
		t.Fatal(err)
	}
	var list []string
	for line := range strings.Lines(string(data)) {
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "#") {
			list = append(list, line)
		}
	}
	return list
}

// corpus is the whole of it.
func corpus(t testing.TB) []conversation {
	t.Helper()
	list := dialogues(t)
	all, talk := lines(t, "topics.txt"), lines(t, "talk.txt")
	from := slices.Index(all, "-- held out")
	for i, pair := range [][2]string{{"Caroline", "Melanie"}, {"Jon", "Gina"}, {"Tim", "Aisha"}, {"Nate", "Joanna"}, {"Calvin", "Svetlana"}, {"Maria", "Okoro"}} {
		topics, held := all[:from], i >= 4
		if held {
			topics = all[from+1:]
		}
		list = append(list, generated(pair, topics, talk, uint64(i+1), held))
	}
	return list
}

// generated makes a conversation of twenty sessions: each topic once by one of
// the pair, a third of them by both.
func generated(pair [2]string, topics, talk []string, seed uint64, held bool) conversation {
	rnd := rand.New(rand.NewPCG(seed, 7))
	c := conversation{name: pair[0], held: held}
	type telling struct {
		topic string
		who   int
	}
	var told []telling
	for _, topic := range topics {
		who := rnd.IntN(2)
		told = append(told, telling{topic, who})
		if rnd.IntN(3) == 0 {
			told = append(told, telling{topic, 1 - who})
		}
	}
	rnd.Shuffle(len(told), func(i, j int) { told[i], told[j] = told[j], told[i] })
	const sessions = 20
	at := time.Date(2023, 1, 10, 9, 0, 0, 0, time.UTC)
	for s := range sessions {
		at = at.AddDate(0, 0, 5+rnd.IntN(12))
		session := fmt.Sprintf("%s-%d", pair[0], s+1)
		say := func(who int, text string) string {
			id := fmt.Sprintf("%s:%d", session, len(c.turns))
			c.turns = append(c.turns, records.Record{ID: id, Kind: records.Observation, Scope: corpusScope, Speaker: pair[who], Session: session,
				Time: at, Text: text, Order: int64(len(c.turns) + 1)})
			return id
		}
		chat := func() {
			remark, answer, _ := strings.Cut(talk[rnd.IntN(len(talk))], " || ")
			who := rnd.IntN(2)
			if rnd.IntN(3) == 0 {
				remark = "Hey " + pair[1-who] + "! " + remark
			}
			say(who, remark)
			say(1-who, answer)
		}
		chat()
		for _, tell := range told[s*len(told)/sessions : (s+1)*len(told)/sessions] {
			parts := strings.Split(pick(tell.topic, rnd), " || ")
			a, b := pair[tell.who], pair[1-tell.who]
			name := strings.NewReplacer("{a}", a, "{b}", b)
			say(1-tell.who, name.Replace(parts[0]))
			id := say(tell.who, name.Replace(parts[1]))
			for _, q := range parts[2:] {
				c.asked = append(c.asked, question{name.Replace(q), []string{id}})
			}
			chat()
			chat()
		}
	}
	return c
}

var choice = regexp.MustCompile(`\[([^\]]*)\]`)

// pick takes one of each choice.
func pick(text string, rnd *rand.Rand) string {
	return choice.ReplaceAllStringFunc(text, func(found string) string {
		options := strings.Split(strings.Trim(found, "[]"), "|")
		return options[rnd.IntN(len(options))]
	})
}

// dialogues are those that were written whole, two conversations of them.
func dialogues(t testing.TB) []conversation {
	t.Helper()
	all := []conversation{{name: "garden"}, {name: "office", held: true}}
	c, session, at, turn := &all[0], "", time.Time{}, 0
	for _, line := range lines(t, "dialogues.txt") {
		switch {
		case strings.HasPrefix(line, "=="):
			words := strings.Fields(line)
			session, turn = words[1], 0
			at, _ = time.Parse(time.RFC3339, words[2])
			if session >= "h4" {
				c = &all[1]
			}
		case strings.HasPrefix(line, "?"):
			text, turns, _ := strings.Cut(strings.TrimPrefix(line, "? "), " = ")
			q := question{text: text}
			for n := range strings.SplitSeq(turns, ",") {
				q.evidence = append(q.evidence, session+":"+n)
			}
			c.asked = append(c.asked, q)
		default:
			turn++
			who, text, _ := strings.Cut(line, ": ")
			c.turns = append(c.turns, records.Record{ID: session + ":" + strconv.Itoa(turn), Kind: records.Observation, Scope: corpusScope,
				Speaker: who, Session: session, Time: at, Text: text, Order: int64(len(c.turns) + 1)})
		}
	}
	return all
}
