package memory

// What can be a name.

import (
	"errors"
	"fmt"
	"strings"
)

// ErrName is a name, or a value of one, that no store takes.
var ErrName = errors.New("not a name with a value")

// CheckName returns ErrName, wrapped, for an empty name and for a zero byte in
// a name or its value. All other bytes are good, UTF-8 or not.
func CheckName(name, value string) error {
	switch {
	case name == "":
		return fmt.Errorf("%w: the name of value %q is empty", ErrName, value)
	case strings.ContainsRune(name, 0):
		return fmt.Errorf("%w: name %q has a zero byte", ErrName, name)
	case strings.ContainsRune(value, 0):
		return fmt.Errorf("%w: value %q of name %q has a zero byte", ErrName, value, name)
	}
	return nil
}

// PrefixEnd is the least string that comes after all strings with the prefix,
// compared by bytes. It is empty where there is none.
func PrefixEnd(prefix string) string {
	end := []byte(prefix)
	for i := len(end) - 1; i >= 0; i-- {
		if end[i] < 0xff {
			end[i]++
			return string(end[:i+1])
		}
	}
	return ""
}
