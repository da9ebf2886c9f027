package interact

import (
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"github.com/deckhand-bot/deckhand/adapters/ingest"
	"github.com/deckhand-bot/deckhand/bot"
)

var errForged = errors.New("the signature is not Discord's")

// Verifier proves that requests come from Discord, just now and for the first time.
type Verifier struct {
	*ingest.Door // reads them

	key  ed25519.PublicKey
	used ingest.Proofs
}

// The headers that prove a request.
const (
	stampHeader     = "X-Signature-Timestamp"
	signatureHeader = "X-Signature-Ed25519"
)

// NewVerifier takes the application's public key in hex.
func NewVerifier(key string) (*Verifier, error) {
	raw, err := hex.DecodeString(key)
	if err != nil || len(raw) != ed25519.PublicKeySize {
		return nil, fmt.Errorf("DISCORD_PUBLIC_KEY is no public key: %w; it has 64 hex digits and stands under \"General Information\"", bot.ErrRefused)
	}
	return &Verifier{Door: ingest.NewDoor(stampHeader, signatureHeader), key: raw}, nil
}

// Check takes a request with its body; it is not taken a second time. What is
// remembered is what was signed: a signature may have more than one form.
func (v *Verifier) Check(h http.Header, body []byte, at time.Time) error {
	stamp := h.Get(stampHeader)
	signature, err := hex.DecodeString(h.Get(signatureHeader))
	signed := append([]byte(stamp), body...)
	if err != nil || len(signature) != ed25519.SignatureSize || stamp == "" || !ed25519.Verify(v.key, signed, signature) {
		return errForged
	}
	sec, err := strconv.ParseInt(stamp, 10, 64)
	if err != nil {
		return ingest.ErrStale
	}
	sum := sha256.Sum256(signed)
	return v.used.Use(string(sum[:]), time.Unix(sec, 0), at)
}
