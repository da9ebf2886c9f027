package discordtest

import (
	"fmt"
	"net/http"
	"time"
)

// apiError is an answer that refuses.
type apiError struct {
	status  int
	code    int
	message string
	errors  obj           // of an invalid form body
	wait    time.Duration // of a limit within a route
}

func (e *apiError) Error() string { return fmt.Sprintf("%d %s", e.code, e.message) }

func no(status, code int, message string) error {
	return &apiError{status: status, code: code, message: message}
}

func unknownChannel() error { return no(http.StatusNotFound, 10003, "Unknown Channel") }
func unknownMessage() error { return no(http.StatusNotFound, 10008, "Unknown Message") }
func unknownMember() error  { return no(http.StatusNotFound, 10007, "Unknown Member") }
func unknownHook() error    { return no(http.StatusNotFound, 10015, "Unknown Webhook") }
func missingAccess() error  { return no(http.StatusForbidden, 50001, "Missing Access") }
func missingPerms() error   { return no(http.StatusForbidden, 50013, "Missing Permissions") }

func unauthorized() error { return no(http.StatusUnauthorized, 0, "401: Unauthorized") }

// names of the codes that APIError may be asked for.
var messages = map[int]string{
	0: "500: Internal Server Error", 10003: "Unknown Channel", 10004: "Unknown Guild", 10007: "Unknown Member", 10008: "Unknown Message",
	10015: "Unknown Webhook", 10062: "Unknown interaction", 40005: "Request entity too large", 40060: "Interaction has already been acknowledged.",
	50001: "Missing Access", 50006: "Cannot send an empty message", 50007: "Cannot send messages to this user", 50013: "Missing Permissions",
	50027: "Invalid Webhook Token", 50035: "Invalid Form Body", 50083: "Thread is archived",
	130000: "API resource is currently overloaded. Try again a little later.", 160004: "A thread has already been created for this message",
}

// form gathers what is wrong with a body, by the path of the field.
type form struct{ errors obj }

// wrong notes an error at a path such as components, 0, label.
func (f *form) wrong(code, message string, path ...any) {
	if f.errors == nil {
		f.errors = obj{}
	}
	at := f.errors
	for _, p := range path {
		key := fmt.Sprint(p)
		next, ok := at[key].(obj)
		if !ok {
			next = obj{}
			at[key] = next
		}
		at = next
	}
	list, _ := at["_errors"].([]obj) // nothing yet is an empty list
	at["_errors"] = append(list, obj{"code": code, "message": message})
}

// long notes a text that is too long, or shorter than least.
func (f *form) long(text string, least, most int, path ...any) {
	n := length(text)
	switch {
	case n == 0 && least > 0:
		f.wrong("BASE_TYPE_REQUIRED", "This field is required", path...)
	case n < least:
		f.wrong("BASE_TYPE_BAD_LENGTH", fmt.Sprintf("Must be between %d and %d in length.", least, most), path...)
	case n > most && least > 0:
		f.wrong("BASE_TYPE_BAD_LENGTH", fmt.Sprintf("Must be between %d and %d in length.", least, most), path...)
	case n > most:
		f.wrong("BASE_TYPE_MAX_LENGTH", fmt.Sprintf("Must be %d or fewer in length.", most), path...)
	}
}

// err is the answer to the body, nil when nothing is wrong.
func (f *form) err() error {
	if f.errors == nil {
		return nil
	}
	return &apiError{status: http.StatusBadRequest, code: 50035, message: messages[50035], errors: f.errors}
}

// invalid is a form with one error.
func invalid(code, message string, path ...any) error {
	var f form
	f.wrong(code, message, path...)
	return f.err()
}

// length counts as Discord does, in code points.
func length(text string) int { return len([]rune(text)) }
