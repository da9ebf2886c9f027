package discord

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

// responseData is what a response holds that is no message.
type responseData struct {
	Flags   discordgo.MessageFlags `json:"flags,omitempty"`
	Choices *[]choiceDefinition    `json:"choices,omitempty"`
}

var (
	errTaken   = errors.New("the interaction is answered already")
	errTooLate = errors.New("the interaction cannot be answered any more")
)

// reply is the way to answer an interaction. Its token lives for fifteen
// minutes and is a secret; the first response has three seconds.
type reply struct {
	d         *Discord
	id, token string
	kind      discordgo.InteractionType
	card      bool          // it comes from a message of the bot's
	body      chan<- []byte // takes the first response; nil: it goes over the API

	mu    sync.Mutex                        // held while the first response is on its way
	first discordgo.InteractionResponseType // the kind of the first response, 0: none yet
	taken bool                              // somebody else gave it, perhaps another replica
	alone bool                              // the first response is for the person alone
}

// begin gives the first response. It is given once; later ones are errTaken.
func (r *reply) begin(ctx context.Context, what response) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	_, err := r.beginLocked(ctx, what)
	return err
}

// beginLocked also says which message the response is, where Discord tells.
func (r *reply) beginLocked(ctx context.Context, what response) (message string, err error) {
	if r.first != 0 || r.taken {
		return "", errTaken
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
		return "", errTaken
	case api.Status(err) == http.StatusNotFound:
		r.taken = true
		return "", errTooLate
	}
	return "", err
}

// callback gives the first response over the API, again where no answer came.
// Mine says that an earlier attempt may be the one that arrived.
func (r *reply) callback(ctx context.Context, what response) (message string, mine bool, err error) {
	var back struct {
		Resource struct {
			Message struct {
				ID string `json:"id"`
			} `json:"message"`
		} `json:"resource"`
	}
	err = api.Retry(ctx, true, func() error {
		err := r.d.api.Call(ctx, http.MethodPost, discordgo.EndpointInteractionResponse(r.id, r.token)+"?with_response=true", what, &back)
		mine = mine || api.Unanswered(err)
		return err
	})
	return back.Resource.Message.ID, mine, err
}

// begun reports whether there was a first response, by whomever.
func (r *reply) begun() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.first != 0 || r.taken
}

// waiting reports whether the person is told to wait.
func (r *reply) waiting() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.first == discordgo.InteractionResponseDeferredChannelMessageWithSource
}

// think says "is thinking…", to the person alone or to all, or for a component
// nothing at all. It names the message that will be the answer, if there is one.
func (r *reply) think(ctx context.Context, alone bool) (message string, err error) {
	what := response{Kind: discordgo.InteractionResponseDeferredChannelMessageWithSource}
	if alone {
		what.Data = responseData{Flags: discordgo.MessageFlagsEphemeral}
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

// say shows a message to the person alone.
func (r *reply) say(ctx context.Context, m draw.Answer) error {
	m.Flags |= discordgo.MessageFlagsEphemeral
	r.mu.Lock()
	defer r.mu.Unlock()
	_, err := r.beginLocked(ctx, response{Kind: discordgo.InteractionResponseChannelMessageWithSource, Data: m})
	if !errors.Is(err, errTaken) {
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
		return r.d.api.Call(ctx, http.MethodPost, discordgo.EndpointFollowupMessage(r.d.appID, r.token), m, nil)
	})
}

// show puts a message in the place of "is thinking…", for whoever sees that.
func (r *reply) show(ctx context.Context, m draw.Answer) error {
	return r.original(ctx, http.MethodPatch, m, nil)
}

// settle acknowledges and shows nothing: where the person is waiting for words
// they read that it is done.
func (r *reply) settle(ctx context.Context, done draw.Answer) error {
	if !r.card {
		return r.say(ctx, done)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	_, err := r.beginLocked(ctx, response{Kind: discordgo.InteractionResponseDeferredMessageUpdate})
	if !errors.Is(err, errTaken) {
		return err
	}
	if r.first == discordgo.InteractionResponseDeferredChannelMessageWithSource {
		return r.original(ctx, http.MethodDelete, nil, nil)
	}
	return nil
}

// repeat acknowledges what was heard before, unless somebody else did.
func (r *reply) repeat(ctx context.Context, seen draw.Answer) error {
	if r.waiting() {
		return r.say(ctx, seen)
	}
	what := response{Kind: discordgo.InteractionResponseDeferredMessageUpdate}
	if !r.card {
		seen.Flags |= discordgo.MessageFlagsEphemeral
		what = response{Kind: discordgo.InteractionResponseChannelMessageWithSource, Data: seen}
	}
	if err := r.begin(ctx, what); !errors.Is(err, errTaken) && !errors.Is(err, errTooLate) {
		return err
	}
	return nil
}

// message asks which message the first response is.
func (r *reply) message(ctx context.Context) (string, error) {
	var m api.Sent
	err := r.original(ctx, http.MethodGet, nil, &m)
	return m.ID, err
}

func (r *reply) original(ctx context.Context, method string, in, out any) error {
	return api.Retry(ctx, true, func() error {
		return r.d.api.Call(ctx, method, discordgo.EndpointInteractionResponseActions(r.d.appID, r.token), in, out)
	})
}
