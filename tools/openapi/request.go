package openapi

// This file makes a request from checked arguments: each in its place, written
// as the document says, and nothing that leads out of the operation's path.

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"mime/multipart"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// request is what is sent, without credentials.
type request struct {
	client  *http.Client
	method  string
	url     *url.URL
	header  http.Header
	cookies []*http.Cookie
	body    []byte
	kind    string
}

// errPath is said of a value that would lead to another path.
var errPath = errors.New("stands in the path and can be neither empty nor “.” nor “..”")

// build makes the request of a call.
func (o *operation) build(arguments json.RawMessage) (*request, error) {
	args := map[string]any{}
	d := json.NewDecoder(bytes.NewReader(arguments))
	d.UseNumber()
	if err := d.Decode(&args); err != nil {
		return nil, fmt.Errorf("the arguments are no JSON object: %w", err)
	}
	r := &request{client: o.doc.client, method: o.method, header: http.Header{}}
	path, query := o.path, []string{}
	for _, p := range o.params {
		v, given := args[p.argument]
		if !given || v == nil {
			if p.Required {
				return nil, fmt.Errorf("%s is missing", p.argument)
			}
			continue
		}
		switch p.In {
		case "path":
			text, err := p.inPath(v)
			if err != nil {
				return nil, err
			}
			path = strings.ReplaceAll(path, "{"+p.Name+"}", text)
		case "query":
			query = append(query, p.inQuery(v)...)
		case "header":
			text := oneLine(flat(v, p.exploded(false)))
			r.header.Set(p.Name, text)
		case "cookie":
			r.cookies = append(r.cookies, cookie(p.Name, oneLine(flat(v, false))))
		}
	}
	if strings.ContainsAny(path, "{}") {
		return nil, fmt.Errorf("the path %s has a place that no parameter fills: the document is at fault", o.path)
	}
	if err := r.address(o.doc.base, path, strings.Join(query, "&")); err != nil {
		return nil, err
	}
	return r, o.fill(r, args)
}

// address is where the request goes: below the base and nowhere else.
func (r *request) address(base *url.URL, path, query string) error {
	text := strings.TrimRight(base.Scheme+"://"+base.Host+base.EscapedPath(), "/") + path
	u, err := url.Parse(text)
	if err != nil || u.Host != base.Host || u.Scheme != base.Scheme {
		return errors.New("the path cannot be written as an address")
	}
	u.RawQuery = query
	r.url = u
	return nil
}

// cookie is one that a request carries.
func cookie(name, value string) *http.Cookie {
	return &http.Cookie{Name: name, Value: value} //nolint:gosec // a request carries names and values alone: the attributes belong to answers
}

func oneLine(s string) string {
	return strings.Map(func(c rune) rune {
		if c < ' ' || c == 0x7f {
			return -1
		}
		return c
	}, s)
}

// exploded reports whether a list or an object is written out in parts.
func (p parameter) exploded(otherwise bool) bool {
	if p.Explode == nil {
		return otherwise
	}
	return *p.Explode
}

// inPath is a value as a part of the path.
func (p parameter) inPath(v any) (string, error) {
	text := flat(v, p.exploded(false))
	switch text {
	case "", ".", "..":
		return "", fmt.Errorf("%s %w", p.argument, errPath)
	}
	text = url.PathEscape(text)
	switch p.Style {
	case "label":
		text = "." + text
	case "matrix":
		text = ";" + url.PathEscape(p.Name) + "=" + text
	}
	return text, nil
}

// inQuery is a value as parts of the query.
func (p parameter) inQuery(v any) []string {
	name := url.QueryEscape(p.Name)
	if len(p.Content) > 0 {
		text, _ := json.Marshal(v) //nolint:errchkjson // it came from JSON
		return []string{name + "=" + url.QueryEscape(string(text))}
	}
	explode := p.exploded(p.Style == "" || p.Style == "form")
	switch v := v.(type) {
	case []any:
		if explode {
			var parts []string
			for _, e := range v {
				parts = append(parts, name+"="+url.QueryEscape(scalar(e)))
			}
			return parts
		}
		between := map[string]string{"spaceDelimited": "%20", "pipeDelimited": "|"}[p.Style]
		if between == "" {
			between = ","
		}
		var list []string
		for _, e := range v {
			list = append(list, url.QueryEscape(scalar(e)))
		}
		return []string{name + "=" + strings.Join(list, between)}
	case map[string]any:
		var parts []string
		for _, k := range slices.Sorted(maps.Keys(v)) {
			switch {
			case p.Style == "deepObject":
				parts = append(parts, deep(p.Name+"["+k+"]", v[k])...)
			case explode:
				parts = append(parts, url.QueryEscape(k)+"="+url.QueryEscape(scalar(v[k])))
			}
		}
		if parts == nil {
			return []string{name + "=" + url.QueryEscape(flat(v, false))}
		}
		return parts
	}
	return []string{name + "=" + url.QueryEscape(scalar(v))}
}

// deep writes an object of objects as name[key][key]=value.
func deep(name string, v any) []string {
	var parts []string
	switch v := v.(type) {
	case map[string]any:
		for _, k := range slices.Sorted(maps.Keys(v)) {
			parts = append(parts, deep(name+"["+k+"]", v[k])...)
		}
	case []any:
		for _, e := range v {
			switch e.(type) {
			case map[string]any, []any:
				parts = append(parts, deep(name+"[]", e)...)
			default:
				parts = append(parts, url.QueryEscape(name+"[]")+"="+url.QueryEscape(scalar(e)))
			}
		}
	default:
		parts = append(parts, url.QueryEscape(name)+"="+url.QueryEscape(scalar(v)))
	}
	return parts
}

// flat is a value on one line: lists and objects with commas between.
func flat(v any, explode bool) string {
	switch v := v.(type) {
	case []any:
		list := make([]string, len(v))
		for i, e := range v {
			list[i] = scalar(e)
		}
		return strings.Join(list, ",")
	case map[string]any:
		var list []string
		for _, k := range slices.Sorted(maps.Keys(v)) {
			if explode {
				list = append(list, k+"="+scalar(v[k]))
			} else {
				list = append(list, k, scalar(v[k]))
			}
		}
		return strings.Join(list, ",")
	}
	return scalar(v)
}

// scalar is a single value as text; others as JSON.
func scalar(v any) string {
	switch v := v.(type) {
	case string:
		return v
	case json.Number:
		return v.String()
	case bool:
		return strconv.FormatBool(v)
	case nil:
		return ""
	}
	text, _ := json.Marshal(v) //nolint:errchkjson // it came from JSON
	return string(text)
}

// fill puts the body in.
func (o *operation) fill(r *request, args map[string]any) error {
	if o.body == nil {
		return nil
	}
	v, given := args[o.body.argument]
	if !given {
		if o.body.required {
			return fmt.Errorf("%s is missing", o.body.argument)
		}
		return nil
	}
	r.kind = o.body.kind
	switch {
	case isJSON(o.body.kind):
		if strings.Contains(r.kind, "*") {
			r.kind = "application/json"
		}
		text, err := json.Marshal(v)
		r.body = text
		return err
	case o.body.kind == "application/x-www-form-urlencoded":
		fields, is := v.(map[string]any)
		if !is {
			return fmt.Errorf("%s must be an object: it is sent as a form", o.body.argument)
		}
		var parts []string
		for _, k := range slices.Sorted(maps.Keys(fields)) {
			parts = append(parts, deep(k, fields[k])...)
		}
		r.body = []byte(strings.Join(parts, "&"))
		return nil
	case o.body.kind == "multipart/form-data":
		return r.multipart(o.body.argument, v)
	}
	r.body = []byte(scalar(v))
	return nil
}

// multipart sends fields, each as a part.
func (r *request) multipart(argument string, v any) error {
	fields, is := v.(map[string]any)
	if !is {
		return fmt.Errorf("%s must be an object: it is sent as a form", argument)
	}
	var b bytes.Buffer
	w := multipart.NewWriter(&b)
	for _, k := range slices.Sorted(maps.Keys(fields)) {
		if err := w.WriteField(k, scalar(fields[k])); err != nil {
			return err
		}
	}
	if err := w.Close(); err != nil {
		return err
	}
	r.body, r.kind = b.Bytes(), w.FormDataContentType()
	return nil
}
