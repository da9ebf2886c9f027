package reflect

import "testing"

func TestCallKeys(t *testing.T) {
	for _, test := range []struct {
		toolA, a, toolB, b string
		equal              bool
	}{
		{"t", `{"a":1,"b":2}`, "t", `{ "b": 2, "a": 1.0 }`, true},
		{"t", ``, "t", `{}`, true},
		{"t", `{"a":1}`, "t", `{"a":2}`, false},
		{"t", `{"a":1}`, "u", `{"a":1}`, false},
		{"t", `{"id":"3f2a9c1b77"}`, "t", `{"id":"3f2a9c1b78"}`, false}, // arguments keep their ids
		{"t", `not JSON `, "t", `not JSON`, true},
		{"t", `not JSON`, "t", `not json`, false},
	} {
		if got := callKey(test.toolA, test.a) == callKey(test.toolB, test.b); got != test.equal {
			t.Errorf("%s %s and %s %s: equal %v", test.toolA, test.a, test.toolB, test.b, got)
		}
	}
}

func TestResultKeys(t *testing.T) {
	for _, test := range []struct {
		a, b  string
		equal bool
	}{
		// what differs from one time to the next
		{"job 7d444840-9dc0-11d1-b245-5ffdce74fad2 queued", "job 123e4567-e89b-12d3-a456-426614174000 queued", true},
		{"at 2026-03-02T12:00:00.123456Z: ok", "at 2026-03-02T12:00:01+01:00: ok", true},
		{"2026-03-02 12:00:00 INFO up", "2026-03-03 13:00:59,123 INFO up", true},
		{"[12:00:01] up", "[23:59:59] up", true},
		{"20260302T120000Z up", "20260302T120001Z up", true},
		{"at 1767225600 up", "at 1767225661 up", true},
		{"at 1767225600123 up", "at 1767225661456 up", true},
		{"commit 3fa9c1d2e up", "commit 4b77c1d2f up", true},
		{"object at 0x7ffd12ab", "object at 0x7ffe99cd", true},
		{"took 12ms", "took 1.5s", true},
		{"took 12 ms.", "took 120 ms.", true},
		{"done in 3.21 seconds", "done in 4 seconds", true},
		{"elapsed 1m23s", "elapsed 2m05s", true},
		{"5µs", "7µs", true},
		{"ok  \tgithub.com/x/y\t0.012s", "ok  \tgithub.com/x/y\t1.3s", true},
		{"killed pid 4711", "killed pid 815", true},
		{"killed PID=4711", "killed PID=815", true},
		{`{"request_id":"abc","status":"open"}`, `{"request_id":"xyz","status":"open"}`, true},
		{`{"requestId": 17, "status":"open"}`, `{"requestId": 18, "status":"open"}`, true},
		{`{"next_cursor":"a\"b","items":[]}`, `{"next_cursor":"c","items":[]}`, true},
		{`{"nextPageToken":"CAUQ","items":[]}`, `{"nextPageToken":"CAoQ","items":[]}`, true},
		{`{"created_at":1,"elapsed_ms":12.5,"n":1}`, `{"created_at":2,"elapsed_ms":9,"n":1}`, true},
		{"receipt R-8812 printed", "receipt R-8813 printed", true},
		{"req_8f3k2a9 failed", "req_0c11d2e failed", true},
		{"chatcmpl-91ab4c77 failed", "chatcmpl-aa1b4c9 failed", true},
		{"request-id: abc", "request-id: abd", true},
		{" same \n", "same", true},

		// what counts something, or says something
		{"build 3 of 10", "build 4 of 10", false},
		{"request 3 of 10", "request 4 of 10", false},
		{"pid 3 of 10", "pid 4 of 10", false},
		{"45 %", "46 %", false},
		{"$12.50", "$12.75", false},
		{"$1767225600", "$1767225601", false},
		{"120 lines", "121 lines", false},
		{"1767225600 bytes", "1767225601 bytes", false},
		{"main.go:10:42: error", "main.go:11:42: error", false},
		{"version 1.2.3", "version 1.2.4", false},
		{"12345678 rows", "12345679 rows", false},
		{"due 2026-03-02", "due 2026-03-03", false},
		{"open 10:30", "open 11:30", false},
		{"12m wide", "13m wide", false},
		{"3 seats", "4 seats", false},
		{"deadbeef", "beefdead", false}, // words of hexadecimal letters
		{"1234567e8", "1234567e9", false},
		{"job-build7 done", "job-build8 done", false},
		{"run_tests1", "run_tests2", false},
		{`{"items":[1,2]}`, `{"items":[1,2,3]}`, false},
		{`{"ids":[1,2]}`, `{"ids":[1,3]}`, false},
		{`{"id":{"a":1}}`, `{"id":{"a":2}}`, false},
		{`{"progress":10,"id":"j1"}`, `{"progress":20,"id":"j1"}`, false},
		{`{"tokens":532}`, `{"tokens":533}`, false},
		{`{"valid":true}`, `{"valid":false}`, false},
		{`{"paid":3}`, `{"paid":4}`, false},
		{"temperature 21.5 °C", "temperature 21.6 °C", false},
	} {
		if got := resultKey(test.a) == resultKey(test.b); got != test.equal {
			t.Errorf("%q and %q: equal %v\n%q\n%q", test.a, test.b, got, normal(nil, test.a), normal(nil, test.b))
		}
	}
}

func FuzzNormal(f *testing.F) {
	for _, s := range []string{"", "pid", "pid ", "1m", "12:00:0", `"id":"`, "0x", "req_", "5\xc2", "id=\\", "2026-03-02T12:00"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		once := normal(nil, s)
		if again := normal(nil, s); string(once) != string(again) {
			t.Fatalf("%q is %q and then %q", s, once, again)
		}
		if len(once) > 2*len(s)+1 {
			t.Fatalf("%q grew to %q", s, once)
		}
	})
}
