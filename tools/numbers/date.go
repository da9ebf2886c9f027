package numbers

// Moments: in another zone, so long after, and what lies between two.

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/agent/format"
)

// dates is the tool date_time.
type dates struct {
	zone string
	now  func() time.Time
}

// Spec describes the tool.
func (d dates) Spec() agent.ToolSpec {
	return agent.ToolSpec{
		Name: "date_time",
		Description: "Tells a moment with its weekday and week, in a time zone and in others; what is so long after it (add), and what lies between it and another (until). " +
			"Without at: now. Times without a zone are in " + d.zone + ".",
		Parameters: json.RawMessage(`{"type":"object","additionalProperties":false,"properties":{
			"at":{"type":"string","maxLength":60,"description":"now, 2026-03-16, 2026-03-16 14:30 or 2026-03-16T14:30:00+01:00"},
			"zone":{"type":"string","maxLength":60,"description":"Zone of at, such as Europe/Berlin"},
			"to_zones":{"type":"array","maxItems":20,"items":{"type":"string","maxLength":60},"description":"Zones to tell it in as well"},
			"add":{"type":"string","maxLength":200,"description":"For example 3 months 2 days, -90 minutes, 10 business days"},
			"until":{"type":"string","maxLength":60,"description":"Another moment, written as at"}}}`),
		Class: agent.ClassRead, Repeat: agent.RepeatRead, Example: json.RawMessage(`{"at":"2026-03-16 14:30","zone":"Europe/Berlin","to_zones":["America/New_York"],"add":"10 business days"}`),
	}
}

// told is a moment for a model.
type told struct {
	At      string            `json:"at"`
	Weekday string            `json:"weekday"`
	Week    int               `json:"iso_week"`
	Day     int               `json:"day_of_year"`
	Zone    string            `json:"zone"`
	In      map[string]string `json:"in,omitempty"`
}

// between is what lies between two moments; negative where the second is earlier.
type between struct {
	Days     int     `json:"days"`
	Business int     `json:"business_days"`
	Hours    float64 `json:"hours"`
	Calendar string  `json:"calendar"`
}

// Run tells.
func (d dates) Run(_ context.Context, c agent.Call) agent.Result {
	text, err := d.tell(c.Arguments)
	if err != nil {
		return agent.Failed("date_time: " + err.Error())
	}
	return agent.Result{State: agent.OutcomeOK, Trust: agent.Trusted, Text: text}
}

func (d dates) tell(arguments json.RawMessage) (string, error) {
	var a struct {
		At    string   `json:"at"`
		Zone  string   `json:"zone"`
		To    []string `json:"to_zones"`
		Add   string   `json:"add"`
		Until string   `json:"until"`
	}
	if err := json.Unmarshal(arguments, &a); err != nil {
		return "", fmt.Errorf("the arguments do not fit: %w", err)
	}
	if a.Zone == "" {
		a.Zone = d.zone
	}
	zone, err := zoneOf(a.Zone)
	if err != nil {
		return "", err
	}
	at, err := d.moment(a.At, zone)
	if err != nil {
		return "", err
	}
	result := struct {
		told
		After   *told    `json:"after,omitempty"`
		Between *between `json:"until,omitempty"`
	}{}
	if result.told, err = tellOf(at, a.To); err != nil {
		return "", err
	}
	if a.Add != "" {
		s, err := readSpan(a.Add)
		if err != nil {
			return "", err
		}
		after, err := tellOf(s.after(at), a.To)
		if err != nil {
			return "", err
		}
		result.After = &after
	}
	if a.Until != "" {
		other, err := d.moment(a.Until, zone)
		if err != nil {
			return "", err
		}
		result.Between = betweenOf(at, other)
	}
	text, err := format.JSON(result)
	return string(text), err
}

func zoneOf(name string) (*time.Location, error) {
	zone, err := time.LoadLocation(name)
	if err != nil || name == "Local" {
		return nil, fmt.Errorf("%q is no time zone such as Europe/Berlin or UTC", name)
	}
	return zone, nil
}

// layouts are the ways in which moments are written; those without a zone are in
// the one that is given.
var layouts = []string{time.RFC3339, "2006-01-02T15:04:05", "2006-01-02 15:04:05", "2006-01-02T15:04", "2006-01-02 15:04", time.DateOnly, "2006-01-02 15:04 -07:00"}

func (d dates) moment(text string, zone *time.Location) (time.Time, error) {
	if text == "" || text == "now" {
		return d.now().In(zone).Truncate(time.Second), nil
	}
	if text == "today" {
		n := d.now().In(zone)
		return time.Date(n.Year(), n.Month(), n.Day(), 0, 0, 0, 0, zone), nil
	}
	for _, layout := range layouts {
		if t, err := time.ParseInLocation(layout, text, zone); err == nil {
			return t.In(zone), nil
		}
	}
	return time.Time{}, fmt.Errorf("%q is no moment such as 2026-03-16, 2026-03-16 14:30 or 2026-03-16T14:30:00+01:00", text)
}

func tellOf(t time.Time, zones []string) (told, error) {
	_, week := t.ISOWeek()
	r := told{At: t.Format(time.RFC3339), Weekday: t.Weekday().String(), Week: week, Day: t.YearDay(), Zone: t.Location().String()}
	for _, name := range zones {
		zone, err := zoneOf(name)
		if err != nil {
			return r, err
		}
		if r.In == nil {
			r.In = map[string]string{}
		}
		r.In[name] = t.In(zone).Format(time.RFC3339) + " " + t.In(zone).Weekday().String()
	}
	return r, nil
}

// maxDays bounds the days that are counted one by one.
const maxDays = 400_000

// betweenOf counts days as calendars do: by their dates.
func betweenOf(from, to time.Time) *between {
	sign := 1
	a, b := from, to
	if b.Before(a) {
		a, b, sign = b, a, -1
	}
	day := func(t time.Time) time.Time { return time.Date(t.Year(), t.Month(), t.Day(), 0, 0, 0, 0, time.UTC) }
	first, last := day(a), day(b)
	days := int(last.Sub(first).Hours() / 24)
	r := &between{Days: sign * days, Hours: float64(sign) * b.Sub(a).Hours()}
	for t, n := first, 0; t.Before(last) && n < maxDays; n++ {
		if t = t.AddDate(0, 0, 1); weekday(t) {
			r.Business += sign
		}
	}
	months := (last.Year()-first.Year())*12 + int(last.Month()) - int(first.Month())
	for months > 0 && (&span{months: months}).after(first).After(last) {
		months--
	}
	rest := int(last.Sub((&span{months: months}).after(first)).Hours() / 24)
	r.Calendar = format.Count(months/12, "year") + ", " + format.Count(months%12, "month") + ", " + format.Count(rest, "day")
	if sign < 0 {
		r.Calendar += " before"
	}
	return r
}
