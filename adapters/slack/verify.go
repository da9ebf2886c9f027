package slack

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"
)

const (
	freshFor  = 5 * time.Minute
	maxProofs = 25_000 // per half: Slack sends an app at most 30,000 events an hour
)

var (
	errForged   = errors.New("the signature is not Slack's")
	errStale    = errors.New("the request is too old, or from the future")
	errReplayed = errors.New("the request was taken before")
)

// verifier proves that requests come from Slack, just now and for the first time.
type verifier struct {
	secret []byte

	mu       sync.Mutex
	now, old map[string]struct{} // proofs that were used; old falls away with the next half
	since    time.Time
}

func newVerifier(secret string) *verifier {
	return &verifier{secret: []byte(secret), now: map[string]struct{}{}}
}

// check takes a request with its body; the proof is used up then. A request
// that could not be dealt with is given back with release, since whoever stands
// between may send the very same bytes again.
func (v *verifier) check(h http.Header, body []byte, at time.Time) (proof string, err error) {
	stamp, claimed := h.Get("X-Slack-Request-Timestamp"), h.Get("X-Slack-Signature")
	mac := hmac.New(sha256.New, v.secret)
	mac.Write([]byte("v0:" + stamp + ":"))
	mac.Write(body)
	given, err := hex.DecodeString(strings.TrimPrefix(claimed, "v0="))
	if err != nil || !strings.HasPrefix(claimed, "v0=") || !hmac.Equal(given, mac.Sum(nil)) {
		return "", errForged
	}
	sec, err := strconv.ParseInt(stamp, 10, 64)
	if age := at.Sub(time.Unix(sec, 0)); err != nil || age > freshFor || age < -freshFor {
		return "", errStale
	}
	proof = string(given)
	if !v.use(proof, at) {
		return "", errReplayed
	}
	return proof, nil
}

// use remembers a proof for at least twice the time in which it is fresh,
// unless there are more requests than Slack ever sends.
func (v *verifier) use(proof string, at time.Time) bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	if at.Sub(v.since) > 2*freshFor || len(v.now) >= maxProofs {
		v.old, v.now, v.since = v.now, map[string]struct{}{}, at
	}
	_, used := v.now[proof]
	_, before := v.old[proof]
	if used || before {
		return false
	}
	v.now[proof] = struct{}{}
	return true
}

func (v *verifier) release(proof string) {
	v.mu.Lock()
	defer v.mu.Unlock()
	delete(v.now, proof)
	delete(v.old, proof)
}
