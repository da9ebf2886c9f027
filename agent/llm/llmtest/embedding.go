package llmtest

// Embeddings: hashed words.

import (
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"hash/fnv"
	"math"
	"net/http"
	"strings"
	"unicode"
)

// Dimensions is the length of an embedding.
const Dimensions = 64

// Embed returns the embedding of text: each word, in lower case, adds one to
// or takes one from the place that its hash names, and the sum has length 1.
// Texts that share words are near each other. A text without words is the
// first unit vector.
func Embed(text string) []float32 {
	v := make([]float32, Dimensions)
	words := strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsNumber(r) })
	for _, w := range words {
		h := fnv.New32a()
		_, _ = h.Write([]byte(w)) // a hash's Write never fails
		sum := h.Sum32()
		v[sum%Dimensions] += 1 - 2*float32(sum>>31)
	}
	var length float64
	for _, x := range v {
		length += float64(x) * float64(x)
	}
	if length == 0 {
		v[0], length = 1, 1
	}
	for i := range v {
		v[i] /= float32(math.Sqrt(length))
	}
	return v
}

type wireEmbedding struct {
	Object    string          `json:"object"`
	Index     int             `json:"index"`
	Embedding json.RawMessage `json:"embedding"`
}

func embeddings(w http.ResponseWriter, r *http.Request) {
	var req struct {
		Model  string          `json:"model"`
		Input  json.RawMessage `json:"input"`
		Format string          `json:"encoding_format"`
	}
	if err := json.NewDecoder(http.MaxBytesReader(w, r.Body, maxBody)).Decode(&req); err != nil {
		fail(w, Fail(http.StatusBadRequest, "", err.Error()))
		return
	}
	inputs := make([]string, 1)
	if json.Unmarshal(req.Input, &inputs[0]) != nil && json.Unmarshal(req.Input, &inputs) != nil {
		fail(w, Fail(http.StatusBadRequest, "", "'input' is neither a string nor a list of strings"))
		return
	}
	var out struct {
		Object string          `json:"object"`
		Model  string          `json:"model"`
		Data   []wireEmbedding `json:"data"`
		Usage  *wireUsage      `json:"usage"`
	}
	out.Object, out.Model, out.Usage = "list", req.Model, &wireUsage{}
	for i, text := range inputs {
		out.Data = append(out.Data, wireEmbedding{Object: "embedding", Index: i, Embedding: vector(Embed(text), req.Format)})
		out.Usage.Prompt += (len(text) + 3) / 4
	}
	out.Usage.Total = out.Usage.Prompt
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write(encode(out)) // a client that went away needs no answer
}

// vector encodes v as a list of numbers, or as base64 of little-endian floats.
func vector(v []float32, format string) json.RawMessage {
	if format != "base64" {
		return encode(v)
	}
	b := make([]byte, 0, 4*len(v))
	for _, x := range v {
		b = binary.LittleEndian.AppendUint32(b, math.Float32bits(x))
	}
	return encode(base64.StdEncoding.EncodeToString(b))
}
