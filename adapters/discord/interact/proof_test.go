package interact

import (
	"crypto/ed25519"
	"encoding/hex"
	"errors"
	"net/http"
	"strconv"
	"testing"
	"time"

	"github.com/deckhand-bot/deckhand/adapters/ingest"
)

func TestVerifierTakesARequestOnce(t *testing.T) {
	t.Parallel()
	public, private, err := ed25519.GenerateKey(nil)
	if err != nil {
		t.Fatal(err)
	}
	v, err := NewVerifier(hex.EncodeToString(public))
	if err != nil {
		t.Fatal(err)
	}
	now := time.Now()
	signed := func(body string, at time.Time) http.Header {
		stamp := strconv.FormatInt(at.Unix(), 10)
		h := http.Header{}
		h.Set("X-Signature-Timestamp", stamp)
		h.Set("X-Signature-Ed25519", hex.EncodeToString(ed25519.Sign(private, []byte(stamp+body))))
		return h
	}
	first := signed("1", now)
	if err := v.Check(first, []byte("1"), now); err != nil {
		t.Error(err)
	}
	for name, c := range map[string]struct {
		h    http.Header
		body string
		at   time.Time
		want error
	}{
		"again":          {first, "1", now, ingest.ErrReplayed},
		"another body":   {first, "2", now, errForged},
		"much later":     {first, "1", now.Add(11 * time.Minute), ingest.ErrStale},
		"of the future":  {signed("3", now.Add(6*time.Minute)), "3", now, ingest.ErrStale},
		"without a time": {http.Header{"X-Signature-Ed25519": first["X-Signature-Ed25519"]}, "1", now, errForged},
	} {
		if err := v.Check(c.h, []byte(c.body), c.at); !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v", name, err, c.want)
		}
	}
	if _, err := NewVerifier("xyz"); err == nil {
		t.Error("what is no key is taken for one")
	}
}
