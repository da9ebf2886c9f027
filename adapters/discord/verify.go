package discord

import (
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"sync"
	"time"

	"github.com/deckhand-bot/deckhand/bot"
)

const (
	freshFor  = 5 * time.Minute
	maxProofs = 25_000 // per half
)

var (
	errForged   = errors.New("the signature is not Discord's")
	errStale    = errors.New("the request is too old, or from the future")
	errReplayed = errors.New("the request was taken before")
)

// verifier proves that requests come from Discord, just now and for the first time.
type verifier struct {
	key ed25519.PublicKey

	mu       sync.Mutex
	now, old map[[sha256.Size]byte]struct{} // proofs that were used; old falls away with the next half
	since    time.Time
}

// newVerifier takes the application's public key in hex.
func newVerifier(key string) (*verifier, error) {
	raw, err := hex.DecodeString(key)
	if err != nil || len(raw) != ed25519.PublicKeySize {
		return nil, fmt.Errorf("DISCORD_PUBLIC_KEY is no public key: %w; it has 64 hex digits and stands under \"General Information\"", bot.ErrRefused)
	}
	return &verifier{key: raw, now: map[[sha256.Size]byte]struct{}{}}, nil
}

// check takes a request with its body; it is not taken a second time. What is
// remembered is what was signed: a signature may have more than one form.
func (v *verifier) check(h http.Header, body []byte, at time.Time) error {
	stamp := h.Get("X-Signature-Timestamp")
	signature, err := hex.DecodeString(h.Get("X-Signature-Ed25519"))
	signed := append([]byte(stamp), body...)
	if err != nil || len(signature) != ed25519.SignatureSize || stamp == "" || !ed25519.Verify(v.key, signed, signature) {
		return errForged
	}
	sec, err := strconv.ParseInt(stamp, 10, 64)
	if age := at.Sub(time.Unix(sec, 0)); err != nil || age > freshFor || age < -freshFor {
		return errStale
	}
	if !v.use(sha256.Sum256(signed), at) {
		return errReplayed
	}
	return nil
}

// use remembers a proof for at least twice the time in which it is fresh,
// unless there are more requests than that.
func (v *verifier) use(proof [sha256.Size]byte, at time.Time) bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	if at.Sub(v.since) > 2*freshFor || len(v.now) >= maxProofs {
		v.old, v.now, v.since = v.now, map[[sha256.Size]byte]struct{}{}, at
	}
	_, used := v.now[proof]
	_, before := v.old[proof]
	if used || before {
		return false
	}
	v.now[proof] = struct{}{}
	return true
}
