package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
)

// secret is a token or a key. It prints as "[secret]" wherever it is printed;
// the pointer keeps it out of prints that look into unexported fields, where
// fmt does not ask Format.
type secret struct{ text *string }

func newSecret(text string) secret { return secret{text: &text} }

// reveal returns the secret itself, empty where there is none.
func (s secret) reveal() string {
	if s.text == nil {
		return ""
	}
	return *s.text
}

// present reports whether there is a secret.
func (s secret) present() bool { return s.text != nil }

// String returns "[secret]", or "" where there is none.
func (s secret) String() string {
	if s.text == nil {
		return ""
	}
	return "[secret]"
}

// Format prints what String returns, whatever the verb.
func (s secret) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, s.String()) }

// MarshalText writes what String returns, in JSON as well.
func (s secret) MarshalText() ([]byte, error) { //nolint:unparam // the shape of encoding.TextMarshaler
	return []byte(s.String()), nil
}

// maxSecret bounds a secret's file, in bytes.
const maxSecret = 64 << 10

// readSecret reads a secret from a file and cuts the white space around it.
func readSecret(path string) (secret, error) {
	f, err := os.Open(path)
	if errors.Is(err, os.ErrNotExist) {
		return secret{}, fmt.Errorf("there is no file %s", path)
	}
	if err != nil {
		return secret{}, fmt.Errorf("cannot read the secret: %w", err)
	}
	defer func() { _ = f.Close() }()
	data, err := io.ReadAll(io.LimitReader(f, maxSecret+1))
	switch text := strings.TrimSpace(string(data)); {
	case err != nil:
		return secret{}, fmt.Errorf("cannot read the secret: %w", err)
	case len(data) > maxSecret:
		return secret{}, fmt.Errorf("%s is too large for a secret (above 64 KiB)", path)
	case text == "":
		return secret{}, fmt.Errorf("%s is empty", path)
	default:
		return newSecret(text), nil
	}
}
