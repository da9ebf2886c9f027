package image

// The tool generate_image, over the images API of OpenAI-compatible endpoints.

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/agent/format"
	"github.com/deckhand-bot/deckhand/tools/egress"
	"github.com/deckhand-bot/deckhand/tools/workspace"
)

// Config is what generate_image needs.
type Config struct {
	Workspace *workspace.Workspace
	// Endpoint is the base of an OpenAI-compatible API, Key what it is asked with.
	Endpoint, Key string
	Model, Size   string
	// Guard reaches the endpoint, and the address where it leaves pictures.
	Guard *egress.Guard
}

// Bounds of a picture. An answer carries it in base64.
const (
	MaxBytes = 32 << 20
	MaxTime  = 3 * time.Minute
)

// New is generate_image.
func New(c Config) agent.Tool { return tool{c, c.Guard.Client()} }

type tool struct {
	c      Config
	client *http.Client
}

// Spec describes generate_image. It costs money at each call.
func (tool) Spec() agent.ToolSpec {
	return agent.ToolSpec{
		Name:        "generate_image",
		Description: "Makes a picture from a description and saves it in the workspace. Charts of data are plot's.",
		Parameters: json.RawMessage(`{"type":"object","additionalProperties":false,"required":["prompt"],"properties":{
			"prompt":{"type":"string","minLength":1,"maxLength":4000},
			"size":{"type":"string","pattern":"^[0-9]{2,4}x[0-9]{2,4}$","description":"Width x height, for example 1024x1024"},
			"path":{"type":"string","minLength":1,"description":"New file, for example boat.png"}}}`),
		Class: agent.ClassSend, Repeat: agent.RepeatIdempotent, Open: true, Timeout: MaxTime + time.Minute,
		Example: json.RawMessage(`{"prompt":"A deckhand coiling a rope, woodcut","path":"deckhand.png"}`),
	}
}

// order is a call.
type order struct {
	Prompt string `json:"prompt"`
	Size   string `json:"size"`
	Path   string `json:"path"`
}

func (t tool) order(c agent.Call) (o order, err error) {
	if err := json.Unmarshal(c.Arguments, &o); err != nil {
		return o, fmt.Errorf("the arguments do not fit: %w", err)
	}
	if o.Size == "" {
		o.Size = t.c.Size
	}
	if o.Path == "" {
		sum := sha256.Sum256([]byte(string(c.Effect) + o.Prompt))
		o.Path = "image-" + hex.EncodeToString(sum[:4]) + ".png"
	}
	o.Path, err = workspace.Clean(o.Path)
	return o, err
}

// host is the endpoint's, for people.
func (t tool) host() string {
	u, err := url.Parse(t.c.Endpoint)
	if err != nil {
		return "the endpoint"
	}
	return u.Hostname()
}

// Prepare says what is sent and which file is made.
func (t tool) Prepare(ctx context.Context, c agent.Call) (agent.Prepared, error) {
	o, err := t.order(c)
	if err != nil {
		return agent.Prepared{}, fmt.Errorf("generate_image: %w", err)
	}
	there, err := t.there(ctx, c, o)
	if err != nil {
		return agent.Prepared{}, fmt.Errorf("generate_image: %w", err)
	}
	if there {
		return agent.Prepared{}, fmt.Errorf("generate_image: %s is there already: choose another path", o.Path)
	}
	return agent.Prepared{
		Changes: []string{o.Path}, New: true, Hosts: []string{t.host()},
		Preview: fmt.Sprintf("Asks `%s` (%s) for a picture of %s, which costs money, and saves it as `%s`.\n\n> %s", t.host(), t.c.Model, o.Size, o.Path,
			strings.ReplaceAll(format.Visible(o.Prompt), "\n", "\n> ")),
	}, nil
}

func (t tool) there(ctx context.Context, c agent.Call, o order) (bool, error) {
	f, err := t.c.Workspace.Open(c.Folder)
	if err != nil {
		return false, err
	}
	defer func() { _ = f.Close() }()
	s, err := f.State(ctx, o.Path)
	return err == nil && !s.Absent, err
}

// Run asks for the picture and saves it. A file that is there is that of the same
// call before it was interrupted.
func (t tool) Run(ctx context.Context, c agent.Call) agent.Result {
	o, err := t.order(c)
	if err != nil {
		return agent.Failed("generate_image: " + err.Error())
	}
	done := agent.Result{State: agent.OutcomeOK, Trust: agent.Trusted, Files: []string{o.Path}, Text: "saved the picture as " + o.Path}
	if there, err := t.there(ctx, c, o); err == nil && there {
		return done
	}
	data, err := t.ask(ctx, o)
	if err == nil {
		err = t.save(c, o, data)
	}
	if err != nil {
		return agent.Failed("generate_image: " + err.Error())
	}
	done.Text += fmt.Sprintf(" (%s, %s)", http.DetectContentType(data), format.Count(len(data), "byte"))
	return done
}

// save makes the file.
func (t tool) save(c agent.Call, o order, data []byte) error {
	f, err := t.c.Workspace.Open(c.Folder)
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }()
	err = f.Create(o.Path, func(w io.Writer) error {
		_, err := w.Write(data)
		return err
	})
	if errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("%s appeared meanwhile: choose another path", o.Path)
	}
	return err
}

// ask asks the endpoint for the picture.
func (t tool) ask(ctx context.Context, o order) ([]byte, error) {
	wish := map[string]any{"model": t.c.Model, "prompt": o.Prompt, "n": 1, "size": o.Size}
	if !strings.HasPrefix(t.c.Model, "gpt-image") { // which answers so anyway, and refuses to be told
		wish["response_format"] = "b64_json"
	}
	body, err := json.Marshal(wish)
	if err != nil {
		return nil, err
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, strings.TrimSuffix(t.c.Endpoint, "/")+"/images/generations", bytes.NewReader(body))
	if err != nil {
		return nil, fmt.Errorf("the endpoint cannot be asked: %w", err)
	}
	r.Header.Set("Content-Type", "application/json")
	if t.c.Key != "" {
		r.Header.Set("Authorization", "Bearer "+t.c.Key)
	}
	said, err := t.exchange(r)
	if err != nil {
		return nil, err
	}
	var answer struct {
		Data []struct {
			B64JSON string `json:"b64_json"`
			URL     string `json:"url"`
		} `json:"data"`
	}
	if err := json.Unmarshal(said, &answer); err != nil || len(answer.Data) == 0 {
		return nil, fmt.Errorf("%s does not answer with a picture", t.host())
	}
	if at := answer.Data[0].URL; answer.Data[0].B64JSON == "" && at != "" {
		if r, err = http.NewRequestWithContext(ctx, http.MethodGet, at, http.NoBody); err != nil {
			return nil, fmt.Errorf("the picture's address cannot be used: %w", err)
		}
		return picture(t.exchange(r))
	}
	return picture(base64.StdEncoding.DecodeString(answer.Data[0].B64JSON))
}

// picture is data that is one.
func picture(data []byte, err error) ([]byte, error) {
	if err != nil {
		return nil, err
	}
	if kind := http.DetectContentType(data); !strings.HasPrefix(kind, "image/") {
		return nil, fmt.Errorf("what came is no picture but %s", kind)
	}
	return data, nil
}

// exchange makes a request once: a second one may cost a second time.
func (t tool) exchange(r *http.Request) ([]byte, error) {
	resp, err := t.client.Do(r)
	if err != nil {
		if u, is := errors.AsType[*url.Error](err); is {
			err = u.Err
		}
		if t, is := err.(net.Error); is && t.Timeout() { //nolint:errorlint // it was unwrapped just now
			return nil, fmt.Errorf("%s took longer than %s", r.URL.Host, MaxTime)
		}
		return nil, fmt.Errorf("%s is not reached: %w", r.URL.Host, err)
	}
	defer func() { _ = resp.Body.Close() }()
	data, err := io.ReadAll(resp.Body)
	if err != nil {
		return nil, fmt.Errorf("%s broke off: %w", r.URL.Host, err)
	}
	if resp.StatusCode >= http.StatusMultipleChoices {
		return nil, fmt.Errorf("%s answers %d %s: %s", r.URL.Host, resp.StatusCode, http.StatusText(resp.StatusCode),
			format.Visible(format.Line(strings.ToValidUTF8(string(data[:min(len(data), 4000)]), "�"), 500)))
	}
	return data, nil
}
