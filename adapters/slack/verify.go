package slack

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/deckhand-bot/deckhand/adapters/ingest"
)

// The headers that prove a request.
const (
	stampHeader     = "X-Slack-Request-Timestamp"
	signatureHeader = "X-Slack-Signature"
)

var errForged = errors.New("the signature is not Slack's")

// verifier proves that requests come from Slack, just now and for the first time.
type verifier struct {
	secret []byte
	used   ingest.Proofs
}

func newVerifier(secret string) *verifier { return &verifier{secret: []byte(secret)} }

// check takes a request with its body; the proof is used up then. A request
// that could not be dealt with is given back, since whoever stands between may
// send the very same bytes again.
func (v *verifier) check(h http.Header, body []byte, at time.Time) (proof string, err error) {
	stamp, claimed := h.Get(stampHeader), h.Get(signatureHeader)
	mac := hmac.New(sha256.New, v.secret)
	mac.Write([]byte("v0:" + stamp + ":"))
	mac.Write(body)
	given, err := hex.DecodeString(strings.TrimPrefix(claimed, "v0="))
	if err != nil || !strings.HasPrefix(claimed, "v0=") || !hmac.Equal(given, mac.Sum(nil)) {
		return "", errForged
	}
	sec, err := strconv.ParseInt(stamp, 10, 64)
	if err != nil {
		return "", ingest.ErrStale
	}
	return string(given), v.used.Use(string(given), time.Unix(sec, 0), at)
}
