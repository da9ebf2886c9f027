package format

import (
	"bytes"
	"encoding/json"
	"io"
)

// JSON is json.Marshal with <, > and & as they are: nothing that reads these
// texts is a web page, and arguments and values keep their bytes.
func JSON(v any) ([]byte, error) {
	var b bytes.Buffer
	if err := Encoder(&b).Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}

// Encoder writes JSON as JSON does, each value on a line of its own.
func Encoder(w io.Writer) *json.Encoder {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	return e
}
