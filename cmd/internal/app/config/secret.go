package config

import (
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"reflect"
	"regexp"
	"strings"
)

// Secret is a token or a key. It prints as "[secret]" wherever it is printed;
// the pointer keeps it out of prints that look into unexported fields, where
// fmt does not ask Format.
type Secret struct{ text *string }

// NewSecret is a secret that is known.
func NewSecret(text string) Secret { return Secret{text: &text} }

// Reveal returns the secret itself, empty where there is none.
func (s Secret) Reveal() string {
	if s.text == nil {
		return ""
	}
	return *s.text
}

// Present reports whether there is a secret.
func (s Secret) Present() bool { return s.text != nil }

// String returns "[secret]", or "" where there is none.
func (s Secret) String() string {
	if s.text == nil {
		return ""
	}
	return "[secret]"
}

// Format prints what String returns, whatever the verb.
func (s Secret) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, s.String()) }

// MarshalText writes what String returns, in JSON as well.
func (s Secret) MarshalText() ([]byte, error) {
	return []byte(s.String()), nil
}

// Secrets are all secrets that the configuration holds, wherever they stand, with
// the passwords within addresses.
func (c Config) Secrets() []string {
	var list []string
	gather(reflect.ValueOf(c), func(s Secret) {
		list = append(list, s.Reveal())
		if u, err := url.Parse(s.Reveal()); err == nil && u.User != nil {
			if password, set := u.User.Password(); set {
				list = append(list, password)
			}
		}
	})
	return list
}

// gather calls do for each secret within a value.
func gather(v reflect.Value, do func(s Secret)) {
	switch v.Kind() {
	case reflect.Struct:
		if v.CanInterface() {
			if s, is := reflect.TypeAssert[Secret](v); is {
				if s.Present() {
					do(s)
				}
				return
			}
		}
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				gather(v.Field(i), do)
			}
		}
	case reflect.Slice, reflect.Array:
		for i := range v.Len() {
			gather(v.Index(i), do)
		}
	case reflect.Map:
		for _, k := range v.MapKeys() {
			gather(v.MapIndex(k), do)
		}
	case reflect.Pointer, reflect.Interface:
		if !v.IsNil() {
			gather(v.Elem(), do)
		}
	default:
	}
}

// secretLike is what is a token or an address with a password rather than a
// file's name: it is not repeated in an error.
var secretLike = regexp.MustCompile(`^(xox[a-z]|xapp|sk|gh[a-z]|glpat)[-_]|://|^[A-Za-z0-9_-]{20,}\.[A-Za-z0-9_-]{5,}\.|^[A-Za-z0-9+=_-]{40,}$`)

// readSecret reads a secret from a file and cuts the white space around it.
func readSecret(path string) (Secret, error) {
	data, err := readFile(path, maxSecret)
	text := strings.TrimSpace(string(data))
	switch {
	case errors.Is(err, os.ErrNotExist):
		if secretLike.MatchString(path) {
			return Secret{}, errors.New("what stands here looks like the secret itself: write it into a file, and the file's name here")
		}
		return Secret{}, fmt.Errorf("there is no file %s", path)
	case errors.Is(err, errTooLarge):
		return Secret{}, fmt.Errorf("%s is too large for a secret (above 64 KiB)", path)
	case err != nil:
		return Secret{}, fmt.Errorf("cannot read the secret: %w", err)
	case text == "":
		return Secret{}, fmt.Errorf("%s is empty", path)
	}
	return NewSecret(text), nil
}

// Bounds of files, in bytes.
const (
	maxConfig = 1 << 20
	maxSecret = 64 << 10
)

var errTooLarge = errors.New("it is too large")

// readFile reads a file of at most so many bytes.
func readFile(path string, most int64) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }() // it was only read
	data, err := io.ReadAll(io.LimitReader(f, most+1))
	if err == nil && int64(len(data)) > most {
		err = errTooLarge
	}
	if err != nil {
		return nil, err
	}
	return data, nil
}
