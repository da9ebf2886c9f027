package discordtest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"mime"
	"mime/multipart"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/deckhand-bot/deckhand/adapters/platformtest"
)

const (
	maxUpload = 10 << 20 // of all files of a call together
	maxBody   = maxUpload + 1<<20
)

// call is one call of the REST API.
type call struct {
	r      *http.Request
	token  string
	body   json.RawMessage // JSON, or payload_json of a multipart form
	files  map[string]Upload
	tooBig bool
}

func (c *call) path(name string) string  { return c.r.PathValue(name) }
func (c *call) query(name string) string { return c.r.URL.Query().Get(name) }

// read decodes the body; an absent one is an empty object.
func (c *call) read(v any) error {
	if len(bytes.TrimSpace(c.body)) == 0 {
		return nil
	}
	var typ *json.UnmarshalTypeError
	err := json.Unmarshal(c.body, v)
	switch {
	case err == nil:
		return nil
	case errors.As(err, &typ):
		return invalid("BASE_TYPE_BAD_TYPE", "Could not interpret \""+typ.Value+"\" as "+typ.Type.String()+".", steps(typ.Field)...)
	default:
		return no(http.StatusBadRequest, 50109, "The request body contains invalid JSON.")
	}
}

func steps(field string) []any {
	var out []any
	for part := range strings.SplitSeq(field, ".") {
		if part != "" {
			out = append(out, part)
		}
	}
	return out
}

// parse reads JSON or a multipart form.
func parse(r *http.Request) (*call, error) {
	c := &call{r: r, files: map[string]Upload{}}
	c.token, _ = strings.CutPrefix(r.Header.Get("Authorization"), "Bot ")
	body, err := io.ReadAll(io.LimitReader(r.Body, maxBody+1))
	if err != nil {
		return nil, fmt.Errorf("reading the call: %w", err)
	}
	if len(body) > maxBody {
		c.tooBig = true
		return c, nil
	}
	kind, params, _ := mime.ParseMediaType(r.Header.Get("Content-Type")) // none is JSON
	if kind != "multipart/form-data" {
		c.body = body
		return c, nil
	}
	return c, c.readForm(multipart.NewReader(bytes.NewReader(body), params["boundary"]))
}

func (c *call) readForm(form *multipart.Reader) error {
	total := 0
	for {
		part, err := form.NextPart()
		if errors.Is(err, io.EOF) {
			c.tooBig = total > maxUpload
			return nil
		}
		if err != nil {
			return fmt.Errorf("reading the form: %w", err)
		}
		data, err := io.ReadAll(part)
		if err != nil {
			return fmt.Errorf("reading the form: %w", err)
		}
		name := part.FormName()
		if name == "payload_json" {
			c.body = data
			continue
		}
		total += len(data)
		id := strings.TrimSuffix(strings.TrimPrefix(name, "files["), "]")
		c.files[id] = Upload{Name: part.FileName(), Mimetype: part.Header.Get("Content-Type"), Data: data}
	}
}

// web answers calls of the REST API, and downloads.
type web struct {
	*world
	mux      *http.ServeMux
	requests []*Request
	limits   Limits
	buckets  map[string]*bucket
}

// serveAPI is the way of every call: written down, struck by a fault, done, answered.
func (s *web) serveAPI(w http.ResponseWriter, r *http.Request) {
	_, pattern := s.mux.Handler(r)
	if pattern == "" {
		s.serve(w, r, route{})
		return
	}
	s.mux.ServeHTTP(w, r)
}

func (s *web) serve(w http.ResponseWriter, r *http.Request, rt route) {
	c, parseErr := parse(r)
	if c == nil {
		panic(http.ErrAbortHandler)
	}
	name := r.Pattern
	platformtest.Default(&name, r.Method+" "+r.URL.Path)
	s.Mu.Lock()
	req := &Request{Route: name, Path: r.URL.RequestURI(), At: time.Now(), Body: c.body, Known: rt.fn != nil}
	s.requests = append(s.requests, req)
	s.Made(name, req.Known)
	f := s.OfCall(name)
	s.Change()
	s.Mu.Unlock()

	if f.LostRequest {
		s.note(req, 0, 0, "lost_request")
		panic(http.ErrAbortHandler)
	}
	if f.Status != 0 || f.Code != 0 {
		s.refuse(w, req, f)
		return
	}
	s.Pause(f.AcceptAfter, f.AcceptWhen)
	s.Mu.Lock()
	out, err := s.do(w.Header(), rt, c, parseErr)
	s.Mu.Unlock()
	if f.LostAnswer {
		s.note(req, 0, 0, "lost_answer")
		panic(http.ErrAbortHandler)
	}
	s.Pause(f.AnswerAfter, f.AnswerWhen)
	s.answer(w, req, out, err)
}

// do checks who calls and how often, and does it; the lock is held.
func (s *web) do(h http.Header, rt route, c *call, parseErr error) (any, error) {
	switch {
	case rt.fn == nil:
		return nil, no(http.StatusNotFound, 0, "404: Not Found")
	case !rt.open && (c.token != s.Token || s.revoked):
		return nil, unauthorized()
	}
	if err := s.limit(h, rt, c); err != nil {
		return nil, err
	}
	if c.tooBig {
		return nil, no(http.StatusRequestEntityTooLarge, 40005, "Request entity too large")
	}
	if parseErr != nil {
		return nil, no(http.StatusBadRequest, 50109, "The request body contains invalid JSON.")
	}
	return rt.fn(s.world, c)
}

// created is an answer with status 201, nothing one with 204.
type (
	created struct{ body any }
	nothing struct{}
)

func (s *web) answer(w http.ResponseWriter, req *Request, out any, err error) {
	if err != nil {
		var ae *apiError
		if !errors.As(err, &ae) {
			ae = &apiError{status: http.StatusInternalServerError, message: err.Error()}
		}
		s.reject(w, req, ae)
		return
	}
	status := http.StatusOK
	if made, ok := out.(created); ok {
		status, out = http.StatusCreated, made.body
	}
	if _, none := out.(nothing); none {
		s.note(req, http.StatusNoContent, 0, "")
		w.WriteHeader(http.StatusNoContent)
		return
	}
	s.note(req, status, 0, "")
	reply(w, status, out)
}

func (s *web) reject(w http.ResponseWriter, req *Request, e *apiError) {
	s.note(req, e.status, e.code, e.message)
	if e.status == http.StatusTooManyRequests {
		s.slow(w, req, e.wait, e.code != 0)
		return
	}
	out := obj{"code": e.code, "message": e.message}
	if e.errors != nil {
		out["errors"] = e.errors
	}
	reply(w, e.status, out)
}

// slow answers 429.
func (s *web) slow(w http.ResponseWriter, req *Request, wait time.Duration, global bool) {
	s.Mu.Lock()
	s.TooMany(req.Route)
	s.Mu.Unlock()
	w.Header().Set("Retry-After", strconv.Itoa(int((wait+time.Second-1)/time.Second)))
	w.Header().Set("X-Ratelimit-Scope", "user")
	if global {
		w.Header().Set("X-Ratelimit-Scope", "global")
		w.Header().Set("X-Ratelimit-Global", "true")
	}
	reply(w, http.StatusTooManyRequests, obj{
		"message": "You are being rate limited.", "retry_after": float64(wait.Milliseconds()+1) / 1000, "global": global,
	})
}

// refuse answers a call that nothing came of.
func (s *web) refuse(w http.ResponseWriter, req *Request, f Fault) {
	platformtest.Default(&f.Status, http.StatusBadRequest)
	switch {
	case f.Status == http.StatusTooManyRequests:
		s.note(req, f.Status, 0, "rate limited by a fault")
		s.slow(w, req, f.RetryAfter, f.Global)
	case f.Code == 0 && f.Status >= http.StatusInternalServerError:
		s.note(req, f.Status, 0, "unavailable by a fault")
		w.Header().Set("Content-Type", "text/html")
		w.WriteHeader(f.Status)
		_, _ = io.WriteString(w, "<html><body>"+http.StatusText(f.Status)+"</body></html>") // as its proxy says it
	default:
		s.reject(w, req, &apiError{status: f.Status, code: f.Code, message: messages[f.Code]})
	}
}

func (s *web) note(req *Request, status, code int, message string) {
	s.Mu.Lock()
	defer s.Mu.Unlock()
	req.Status, req.Code, req.Error = status, code, message
	s.Change()
}

func reply(w http.ResponseWriter, status int, out any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(platformtest.Encode(out)) // a client that went away needs no answer
}

// The routes that faults are planned for most often.
const (
	PostMessage   = "POST /channels/{channel}/messages"
	EditMessage   = "PATCH /channels/{channel}/messages/{message}"
	DeleteMessage = "DELETE /channels/{channel}/messages/{message}"
	ReadMessages  = "GET /channels/{channel}/messages"
	React         = "PUT /channels/{channel}/messages/{message}/reactions/{emoji}/@me"
	StartThread   = "POST /channels/{channel}/threads"
	OpenThread    = "POST /channels/{channel}/messages/{message}/threads"
	Callback      = "POST /interactions/{interaction}/{token}/callback"
	FollowUp      = "POST /webhooks/{app}/{token}"
	EditOriginal  = "PATCH /webhooks/{app}/{token}/messages/{message}"
	Rename        = "name of a thread" // the limit within PATCH /channels/{channel}
	PutCommands   = "PUT /applications/{app}/guilds/{guild}/commands"
	OpenDM        = "POST /users/@me/channels"
)

// route is what a pattern does.
type route struct {
	name string
	fn   func(*world, *call) (any, error) // nil: unknown
	rate Rate
	open bool // without the bot's token
}

func (s *web) apiRoutes() *http.ServeMux {
	mux := http.NewServeMux()
	for pattern, rt := range routes() {
		rt.name = pattern
		mux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) { s.serve(w, r, rt) })
	}
	return mux
}

// How often most routes may be called.
var (
	often = Rate{10, 5 * time.Second}
	five  = Rate{5, 5 * time.Second}
	rare  = Rate{5, 20 * time.Second}
)

func routes() map[string]route {
	out := placeRoutes()
	maps.Copy(out, messageRoutes())
	for _, where := range []string{"/applications/{app}/commands", "/applications/{app}/guilds/{guild}/commands"} {
		out["GET "+where] = route{fn: listCommands, rate: often}
		out["PUT "+where] = route{fn: putCommands, rate: rare}
		out["POST "+where] = route{fn: postCommand, rate: rare}
		out["GET "+where+"/{command}"] = route{fn: getCommand, rate: often}
		out["PATCH "+where+"/{command}"] = route{fn: patchCommand, rate: rare}
		out["DELETE "+where+"/{command}"] = route{fn: dropCommand, rate: rare}
	}
	return out
}

// placeRoutes are about people, servers and channels.
func placeRoutes() map[string]route {
	return map[string]route{
		"GET /gateway":                       {fn: gateway, open: true},
		"GET /gateway/bot":                   {fn: gatewayBot, rate: often},
		"GET /users/@me":                     {fn: me, rate: often},
		"GET /users/{user}":                  {fn: someUser, rate: often},
		"GET /users/@me/guilds":              {fn: myGuilds, rate: often},
		OpenDM:                               {fn: openDM, rate: often},
		"GET /oauth2/applications/@me":       {fn: application, rate: often},
		"GET /applications/@me":              {fn: application, rate: often},
		"GET /guilds/{guild}":                {fn: getGuild, rate: often},
		"GET /guilds/{guild}/channels":       {fn: guildChannels, rate: often},
		"GET /guilds/{guild}/roles":          {fn: guildRoles, rate: often},
		"GET /guilds/{guild}/members":        {fn: guildMembers, rate: often},
		"GET /guilds/{guild}/members/{user}": {fn: guildMember, rate: often},
		"GET /guilds/{guild}/threads/active": {fn: activeThreads, rate: often},

		"GET /channels/{channel}":                            {fn: getChannel, rate: often},
		"PATCH /channels/{channel}":                          {fn: patchChannel, rate: often},
		"DELETE /channels/{channel}":                         {fn: deleteChannel, rate: five},
		"PUT /channels/{channel}/permissions/{overwrite}":    {fn: putOverwrite, rate: often},
		"DELETE /channels/{channel}/permissions/{overwrite}": {fn: dropOverwrite, rate: often},
		"POST /channels/{channel}/typing":                    {fn: typing, rate: five},
	}
}

// messageRoutes are about messages, threads and answers.
func messageRoutes() map[string]route {
	return map[string]route{
		ReadMessages: {fn: listMessages, rate: often},
		"GET /channels/{channel}/messages/{message}": {fn: getMessage, rate: often},
		PostMessage:   {fn: postMessage, rate: five},
		EditMessage:   {fn: patchMessage, rate: five},
		DeleteMessage: {fn: dropMessage, rate: Rate{5, time.Second}},
		React:         {fn: putReaction, rate: Rate{1, 250 * time.Millisecond}},
		"DELETE /channels/{channel}/messages/{message}/reactions/{emoji}/{user}": {fn: dropReaction, rate: Rate{1, 250 * time.Millisecond}},

		StartThread: {fn: startThread, rate: Rate{50, 5 * time.Minute}},
		OpenThread:  {fn: openThread, rate: Rate{50, 5 * time.Minute}},
		"GET /channels/{channel}/threads/archived/public":  {fn: archivedThreads, rate: often},
		"GET /channels/{channel}/thread-members":           {fn: threadMembers, rate: often},
		"GET /channels/{channel}/thread-members/{user}":    {fn: threadMember, rate: often},
		"PUT /channels/{channel}/thread-members/{user}":    {fn: joinThread, rate: often},
		"DELETE /channels/{channel}/thread-members/{user}": {fn: leaveThread, rate: often},

		Callback: {fn: callback, open: true},
		FollowUp: {fn: followUp, rate: five, open: true},
		"GET /webhooks/{app}/{token}/messages/{message}": {fn: getAnswer, rate: five, open: true},
		EditOriginal: {fn: editAnswer, rate: five, open: true},
		"DELETE /webhooks/{app}/{token}/messages/{message}": {fn: dropAnswer, rate: five, open: true},
	}
}
