package interact

// This file answers one interaction. It tracks whether the first response was
// given and of which kind, since that decides whether later words replace it,
// follow it, or come too late.

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"sync"
	"time"

	"github.com/bwmarrin/discordgo"

	"github.com/deckhand-bot/deckhand/adapters/discord/api"
	"github.com/deckhand-bot/deckhand/adapters/discord/draw"
)

const responseWithin = 2 * time.Second

// response is the first answer to an interaction.
type response struct {
	Kind discordgo.InteractionResponseType `json:"type"`
	Data any                               `json:"data,omitempty"`
}

// Why a response is not the first one.
var (
	ErrTaken   = errors.New("the interaction is answered already")
	ErrTooLate = errors.New("the interaction cannot be answered any more")
)

// Reply is the way to answer an interaction. Its token lives for fifteen
// minutes and is a secret; the first response has three seconds.
type Reply struct {
	client    *api.Client
	appID     string
	id, token string
	kind      discordgo.InteractionType
	card      bool          // it comes from a message of the bot's
	body      chan<- []byte // takes the first response; nil: it goes over the API

	mu    sync.Mutex                        // held while the first response is on its way
	first discordgo.InteractionResponseType // the kind of the first response, 0: none yet
	taken bool                              // somebody else gave it, perhaps another replica
	alone bool                              // the first response is for the person alone
}

// New is the way to answer an interaction of a kind, on behalf of an application.
// Over HTTP the first response goes into body; nil: it goes over the API.
func New(client *api.Client, appID, id, token string, kind discordgo.InteractionType, body chan<- []byte) *Reply {
	return &Reply{client: client, appID: appID, id: id, token: token, kind: kind, body: body}
}

// OnCard notes that the interaction comes from a message of the bot's.
func (r *Reply) OnCard() { r.card = true }

// Completes reports whether somebody is typing into a command's option:
// nothing but suggestions can be said then.
func (r *Reply) Completes() bool {
	return r.kind == discordgo.InteractionApplicationCommandAutocomplete
}

// Open shows a form. It has to be the first response.
func (r *Reply) Open(ctx context.Context, form draw.Modal) error {
	return r.begin(ctx, response{Kind: discordgo.InteractionResponseModal, Data: form})
}

// Suggest shows what may be typed. It has to be the first response.
func (r *Reply) Suggest(ctx context.Context, choices []*discordgo.ApplicationCommandOptionChoice) error {
	return r.begin(ctx, response{Kind: discordgo.InteractionApplicationCommandAutocompleteResult, Data: struct {
		Choices []*discordgo.ApplicationCommandOptionChoice `json:"choices"`
	}{choices}})
}

// begin gives the first response. It is given once; later ones are ErrTaken.
func (r *Reply) begin(ctx context.Context, what response) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	_, err := r.beginLocked(ctx, what)
	return err
}

// beginLocked also says which message the response is, where Discord tells.
func (r *Reply) beginLocked(ctx context.Context, what response) (message string, err error) {
	if r.first != 0 || r.taken {
		return "", ErrTaken
	}
	ctx, cancel := context.WithTimeout(ctx, responseWithin)
	defer cancel()
	if r.body != nil {
		raw, err := json.Marshal(what)
		if err != nil {
			return "", err
		}
		r.first = what.Kind
		r.body <- raw
		return "", nil
	}
	message, mine, err := r.callback(ctx, what)
	switch code := api.Code(err); {
	case err == nil || code == discordgo.ErrCodeInteractionHasAlreadyBeenAcknowledged && mine:
		r.first = what.Kind
		return message, nil
	case code == discordgo.ErrCodeInteractionHasAlreadyBeenAcknowledged:
		r.taken = true
		return "", ErrTaken
	case api.Status(err) == http.StatusNotFound:
		r.taken = true
		return "", ErrTooLate
	}
	return "", err
}

// callback gives the first response over the API, again where no answer came.
// Mine says that an earlier attempt may be the one that arrived.
func (r *Reply) callback(ctx context.Context, what response) (message string, mine bool, err error) {
	var back struct {
		Resource struct {
			Message struct {
				ID string `json:"id"`
			} `json:"message"`
		} `json:"resource"`
	}
	err = api.Retry(ctx, true, func() error {
		err := r.client.Call(ctx, http.MethodPost, discordgo.EndpointInteractionResponse(r.id, r.token)+"?with_response=true", what, &back)
		mine = mine || api.Unanswered(err)
		return err
	})
	return back.Resource.Message.ID, mine, err
}

// Answered reports whether there was a first response, by whomever.
func (r *Reply) Answered() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.first != 0 || r.taken
}

// Deferred reports whether the person is told to wait.
func (r *Reply) Deferred() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.first == discordgo.InteractionResponseDeferredChannelMessageWithSource
}

// Defer says "is thinking…", to the person alone or to all, or for a component
// nothing at all. It names the message that will be the answer, if there is one.
func (r *Reply) Defer(ctx context.Context, alone bool) (message string, err error) {
	what := response{Kind: discordgo.InteractionResponseDeferredChannelMessageWithSource}
	if alone {
		what.Data = struct {
			Flags discordgo.MessageFlags `json:"flags"`
		}{discordgo.MessageFlagsEphemeral}
	}
	if alone && r.kind == discordgo.InteractionMessageComponent {
		what = response{Kind: discordgo.InteractionResponseDeferredMessageUpdate}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if message, err = r.beginLocked(ctx, what); err == nil {
		r.alone = alone
	}
	return message, err
}

// Tell shows a message to the person alone.
func (r *Reply) Tell(ctx context.Context, m draw.Answer) error {
	m.Flags |= discordgo.MessageFlagsEphemeral
	r.mu.Lock()
	defer r.mu.Unlock()
	_, err := r.beginLocked(ctx, response{Kind: discordgo.InteractionResponseChannelMessageWithSource, Data: m})
	if !errors.Is(err, ErrTaken) {
		return err
	}
	if r.first == discordgo.InteractionResponseDeferredChannelMessageWithSource && r.alone {
		return r.original(ctx, http.MethodPatch, m, nil)
	}
	if r.first == discordgo.InteractionResponseDeferredChannelMessageWithSource { // what all would see goes first
		if err := r.original(ctx, http.MethodDelete, nil, nil); err != nil {
			return err
		}
	}
	return api.Retry(ctx, false, func() error { // a second one would be seen
		return r.client.Call(ctx, http.MethodPost, discordgo.EndpointFollowupMessage(r.appID, r.token), m, nil)
	})
}

// Complete puts a message in the place of "is thinking…", for whoever sees that.
func (r *Reply) Complete(ctx context.Context, m draw.Answer) error {
	return r.original(ctx, http.MethodPatch, m, nil)
}

// Replace shows a message in place of the one whose component was used.
func (r *Reply) Replace(ctx context.Context, m draw.Answer) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	_, err := r.beginLocked(ctx, response{Kind: discordgo.InteractionResponseUpdateMessage, Data: m})
	if errors.Is(err, ErrTaken) && r.first == discordgo.InteractionResponseDeferredMessageUpdate {
		return r.original(ctx, http.MethodPatch, m, nil)
	}
	return err
}

// Acknowledge acknowledges and shows nothing: where the person is waiting for words
// they read that it is done.
func (r *Reply) Acknowledge(ctx context.Context, done draw.Answer) error {
	if !r.card {
		return r.Tell(ctx, done)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	_, err := r.beginLocked(ctx, response{Kind: discordgo.InteractionResponseDeferredMessageUpdate})
	if !errors.Is(err, ErrTaken) {
		return err
	}
	if r.first == discordgo.InteractionResponseDeferredChannelMessageWithSource {
		return r.original(ctx, http.MethodDelete, nil, nil)
	}
	return nil
}

// AcknowledgeAgain acknowledges what was heard before, unless somebody else did.
func (r *Reply) AcknowledgeAgain(ctx context.Context, seen draw.Answer) error {
	if r.Deferred() {
		return r.Tell(ctx, seen)
	}
	what := response{Kind: discordgo.InteractionResponseDeferredMessageUpdate}
	if !r.card {
		seen.Flags |= discordgo.MessageFlagsEphemeral
		what = response{Kind: discordgo.InteractionResponseChannelMessageWithSource, Data: seen}
	}
	if err := r.begin(ctx, what); !errors.Is(err, ErrTaken) && !errors.Is(err, ErrTooLate) {
		return err
	}
	return nil
}

// Message asks which message the first response is.
func (r *Reply) Message(ctx context.Context) (string, error) {
	var m api.Sent
	err := r.original(ctx, http.MethodGet, nil, &m)
	return m.ID, err
}

func (r *Reply) original(ctx context.Context, method string, in, out any) error {
	return api.Retry(ctx, true, func() error {
		return r.client.Call(ctx, method, discordgo.EndpointInteractionResponseActions(r.appID, r.token), in, out)
	})
}
