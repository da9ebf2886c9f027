package redis_test

import (
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/memory/redis"
	"github.com/deckhand-bot/deckhand/memory/redis/redistest"
)

// TestAnAdmissionIsWrittenWholeOrNotAtAll wants a call that fails to leave no trace.
func TestAnAdmissionIsWrittenWholeOrNotAtAll(t *testing.T) {
	srv := redistest.Start(t)
	s := open(t, redis.Config{URL: srv.URL})
	call := agent.Admission{Endpoint: "model", Run: "r", Strand: agent.Main, Charges: []agent.Charge{{Limit: "requests", Takes: time.Hour}}}
	if wait, err := s.Admit(t.Context(), call); err != nil || wait != 0 {
		t.Fatalf("the first call: %v, %v", wait, err)
	}
	const endpoint = "deckhand:{endpoint/model}"
	before, err := srv.Query("HGETALL", endpoint)
	if err != nil {
		t.Fatal(err)
	}
	if reply, err := srv.Query("SET", endpoint+":line", "no line"); err != nil {
		t.Fatal(reply, err)
	}
	call.Charges = append(call.Charges, agent.Charge{Limit: "requests", Takes: -time.Hour}, agent.Charge{Limit: "tokens", Hold: time.Minute})
	if wait, err := s.Admit(t.Context(), call); err == nil {
		t.Fatalf("a call to an endpoint without a line: %v", wait)
	}
	after, err := srv.Query("HGETALL", endpoint)
	if diff := cmp.Diff(before, after); diff != "" || err != nil {
		t.Errorf("%v (-before +after)\n%s", err, diff)
	}
}

// TestErrorsOfTheServerAreClassified brings a server into each state and wants
// the engine to be told whether sending again helps.
func TestErrorsOfTheServerAreClassified(t *testing.T) {
	for name, tt := range map[string]struct {
		commands  []string
		permanent bool
	}{
		"full":                   {[]string{"CONFIG SET maxmemory 1"}, false},
		"a replica":              {[]string{"REPLICAOF 127.0.0.1 1"}, false},
		"too few replicas":       {[]string{"CONFIG SET min-replicas-to-write 1"}, false},
		"the user may not write": {[]string{"ACL SETUSER crew -@write"}, true},
		"the user may not call":  {[]string{"ACL SETUSER crew -evalsha -eval"}, true},
		"not the user's keys":    {[]string{"ACL SETUSER crew resetkeys ~other:*"}, true},
		"a key of another type":  {[]string{"DEL deckhand:{0}:due", "SET deckhand:{0}:due x"}, true},
		"gone":                   {nil, false},
	} {
		t.Run(name, func(t *testing.T) {
			srv := redistest.Start(t)
			if reply, err := srv.Ask("ACL SETUSER crew on >pw ~* &* +@all"); err != nil || reply != "+OK" {
				t.Fatalf("acl: %q, %v", reply, err)
			}
			s := open(t, redis.Config{URL: "redis://crew:pw@" + srv.Addr + "?max_retries=-1", Shards: 1})
			run := begin(t, s)
			c := agent.Commit{ID: agent.NewID(), Run: run, Events: []agent.Event{said(agent.Main, "x")}, Wake: map[agent.StrandID]time.Time{agent.Main: agent.AtOnce}}
			for _, command := range tt.commands {
				if reply, err := srv.Ask(command); err != nil || reply[0] == '-' {
					t.Fatalf("%s: %q, %v", command, reply, err)
				}
			}
			if tt.commands == nil {
				srv.Kill()
			}
			_, err := s.Commit(t.Context(), c)
			if err == nil || agent.Permanent(err) != tt.permanent {
				t.Errorf("commit: %v, want it to be permanent: %v", err, tt.permanent)
			}
			if errors.Is(err, agent.ErrNoRun) || errors.Is(err, agent.ErrConflict) {
				t.Errorf("commit: %v, which is no refusal", err)
			}
		})
	}
}
