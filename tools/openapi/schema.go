package openapi

// This file makes schemas of OpenAPI into JSON Schema that stands alone:
// references are put in, cycles and depths are cut, and what only documents
// need is left out.

import (
	"encoding/json"
	"regexp"
	"slices"
)

// Bounds of one schema.
const (
	deepest   = 8        // references and levels that are put in at first
	maxSchema = 48 << 10 // bytes; a larger one is made again, with less depth
)

// kept are the words of JSON Schema that arguments are checked by, and those that
// help a model.
var kept = map[string]bool{
	"type": true, "enum": true, "const": true, "default": true, "description": true, "title": true, "format": true,
	"minimum": true, "maximum": true, "multipleOf": true, "minLength": true, "maxLength": true,
	"minItems": true, "maxItems": true, "uniqueItems": true, "minProperties": true, "maxProperties": true,
	"required": true,
}

// schema is a schema of the document as JSON Schema.
func (d *document) schema(raw json.RawMessage, depth int) map[string]any {
	if len(raw) == 0 {
		return map[string]any{}
	}
	var v any
	if json.Unmarshal(raw, &v) != nil {
		return map[string]any{}
	}
	return d.convert(v, depth, nil)
}

// convert makes one level. Open are the references that lead here.
func (d *document) convert(v any, depth int, open []string) map[string]any {
	in, is := v.(map[string]any)
	if !is || depth <= 0 { // true and false are schemas, too, and say nothing to a model
		return cut(in)
	}
	if ref, refers := in["$ref"].(string); refers {
		if slices.Contains(open, ref) {
			return map[string]any{"description": "again " + ref[1+lastSlash(ref):]}
		}
		target, known := d.schemas[ref]
		if !known {
			if raw, err := d.at(ref); err == nil {
				_ = json.Unmarshal(raw, &target) // the document was valid JSON
			}
			d.schemas[ref] = target
		}
		out := d.convert(target, depth, append(slices.Clone(open), ref))
		if text, has := in["description"].(string); has {
			out["description"] = text
		}
		return out
	}
	out := map[string]any{}
	for word, x := range in {
		if kept[word] {
			out[word] = x
		}
	}
	d.nested(in, out, depth, open)
	nullable(in, out)
	exclusive(in, out)
	if p, has := in["pattern"].(string); has {
		if _, err := regexp.Compile(p); err == nil {
			out["pattern"] = p
		}
	}
	required(in, out)
	return out
}

// cut is a schema below which nothing more is shown.
func cut(in map[string]any) map[string]any {
	out := map[string]any{}
	for _, word := range []string{"type", "description"} {
		if x, has := in[word]; has {
			out[word] = x
		}
	}
	return out
}

func lastSlash(s string) int {
	for i := len(s) - 1; i >= 0; i-- {
		if s[i] == '/' {
			return i
		}
	}
	return -1
}

// nested converts the schemas within a schema.
func (d *document) nested(in, out map[string]any, depth int, open []string) {
	if props, is := in["properties"].(map[string]any); is {
		out["properties"] = d.properties(props, depth, open)
	}
	for _, word := range []string{"items", "not", "additionalProperties"} {
		switch x := in[word].(type) {
		case map[string]any:
			out[word] = d.convert(x, depth-1, open)
		case bool:
			if word == "additionalProperties" && !x {
				out[word] = false
			}
		}
	}
	d.combined(in, out, depth, open)
}

// properties converts those of an object. What only answers have is left out.
func (d *document) properties(props map[string]any, depth int, open []string) map[string]any {
	list := map[string]any{}
	for name, p := range props {
		if inner, is := p.(map[string]any); is && inner["readOnly"] == true {
			continue
		}
		list[name] = d.convert(p, depth-1, open)
	}
	return list
}

// combined converts the schemas of which one, some or all are to fit.
func (d *document) combined(in, out map[string]any, depth int, open []string) {
	for _, word := range []string{"oneOf", "anyOf", "allOf"} {
		list, is := in[word].([]any)
		if !is || len(list) == 0 {
			continue
		}
		var converted []any
		for _, x := range list {
			converted = append(converted, d.convert(x, depth-1, open))
		}
		if word == "oneOf" { // cut schemas may fit more than one
			word = "anyOf"
			if earlier, has := out[word].([]any); has {
				converted = append(earlier, converted...)
			}
		}
		out[word] = converted
	}
}

// nullable says in JSON Schema what OpenAPI 3.0 says by a word of its own.
func nullable(in, out map[string]any) {
	if in["nullable"] != true {
		return
	}
	if kind, is := out["type"].(string); is {
		out["type"] = []any{kind, "null"}
	}
	if list, is := out["enum"].([]any); is && !slices.Contains(list, nil) {
		out["enum"] = append(slices.Clone(list), nil)
	}
}

// exclusive says in JSON Schema where OpenAPI 3.0 excludes a bound.
func exclusive(in, out map[string]any) {
	for _, b := range [][2]string{{"exclusiveMinimum", "minimum"}, {"exclusiveMaximum", "maximum"}} {
		switch x := in[b[0]].(type) {
		case float64:
			out[b[0]] = x
		case bool:
			if limit, has := out[b[1]]; x && has {
				out[b[0]] = limit
				delete(out, b[1])
			}
		}
	}
}

// required leaves out what there is no property for.
func required(in, out map[string]any) {
	list, is := in["required"].([]any)
	if !is {
		delete(out, "required")
		return
	}
	props, _ := out["properties"].(map[string]any)
	all, _ := in["properties"].(map[string]any)
	var left []any
	for _, name := range list {
		text, is := name.(string)
		_, was := all[text]
		_, has := props[text]
		if is && (has || !was) {
			left = append(left, text)
		}
	}
	if len(left) == 0 {
		delete(out, "required")
		return
	}
	out["required"] = left
}
