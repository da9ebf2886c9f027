package redact

import (
	"context"
	"fmt"
	"log/slog"
)

// Handler is a handler of logs that redacts messages and values.
func (r *Redactor) Handler(next slog.Handler) slog.Handler { return handler{r, next} }

type handler struct {
	r    *Redactor
	next slog.Handler
}

// Enabled is the next handler's word.
func (h handler) Enabled(ctx context.Context, l slog.Level) bool { return h.next.Enabled(ctx, l) }

// Handle passes the record on without secrets.
func (h handler) Handle(ctx context.Context, rec slog.Record) error {
	clean := slog.NewRecord(rec.Time, rec.Level, h.r.Text(rec.Message), rec.PC)
	rec.Attrs(func(a slog.Attr) bool {
		clean.AddAttrs(h.attr(a))
		return true
	})
	return h.next.Handle(ctx, clean) //nolint:wrapcheck // a handler passes on
}

// WithAttrs redacts what every record has.
func (h handler) WithAttrs(attrs []slog.Attr) slog.Handler {
	clean := make([]slog.Attr, len(attrs))
	for i, a := range attrs {
		clean[i] = h.attr(a)
	}
	return handler{h.r, h.next.WithAttrs(clean)}
}

// WithGroup opens a group.
func (h handler) WithGroup(name string) slog.Handler { return handler{h.r, h.next.WithGroup(name)} }

// attr redacts a value: a text, an error, or whatever prints as one.
func (h handler) attr(a slog.Attr) slog.Attr {
	v := a.Value.Resolve()
	switch v.Kind() {
	case slog.KindString:
		return slog.String(a.Key, h.r.Text(v.String()))
	case slog.KindGroup:
		group := make([]any, 0, len(v.Group()))
		for _, in := range v.Group() {
			group = append(group, h.attr(in))
		}
		return slog.Group(a.Key, group...)
	case slog.KindAny:
		said := fmt.Sprint(v.Any())
		if clean := h.r.Text(said); clean != said {
			return slog.String(a.Key, clean)
		}
	default:
	}
	return slog.Attr{Key: a.Key, Value: v}
}
