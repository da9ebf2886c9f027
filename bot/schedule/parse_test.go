package schedule

import (
	"errors"
	"strings"
	"testing"
	"time"
)

// What people and config write, what it is written down as, what follows it and
// when it ticks first.
func TestParsePrefix(t *testing.T) {
	berlin := place(t, "Europe/Berlin")
	for _, c := range []struct{ text, spec, rest, next string }{
		{"every weekday 9:00", "every weekday at 9:00 Europe/Berlin", "", "Mon 2027-03-29 09:00 CEST"},
		{"weekdays at 9am", "every weekday at 9:00 Europe/Berlin", "", "Mon 2027-03-29 09:00 CEST"},
		{"EVERY WORKDAY AT 09:00", "every weekday at 9:00 Europe/Berlin", "", "Mon 2027-03-29 09:00 CEST"},
		{"each working day at 9 o'clock", "every weekday at 9:00 Europe/Berlin", "", "Mon 2027-03-29 09:00 CEST"},
		{"mon-fri 9", "every weekday at 9:00 Europe/Berlin", "", "Mon 2027-03-29 09:00 CEST"},
		{"monday to friday at 9 p.m.", "every weekday at 21:00 Europe/Berlin", "", "Mon 2027-03-29 21:00 CEST"},
		{"at 9:00 every weekday", "every weekday at 9:00 Europe/Berlin", "", "Mon 2027-03-29 09:00 CEST"},
		{"9am weekdays", "every weekday at 9:00 Europe/Berlin", "", "Mon 2027-03-29 09:00 CEST"},
		{"9:00, on weekdays", "every weekday at 9:00 Europe/Berlin", "", "Mon 2027-03-29 09:00 CEST"},
		{"daily 17:30", "every day at 17:30 Europe/Berlin", "", "Sat 2027-03-27 17:30 CET"},
		{"every day at 9", "every day at 9:00 Europe/Berlin", "", "Sun 2027-03-28 09:00 CEST"},
		{"daily at noon", "every day at 12:00 Europe/Berlin", "", "Sun 2027-03-28 12:00 CEST"},
		{"daily at midnight", "every day at 0:00 Europe/Berlin", "", "Sun 2027-03-28 00:00 CET"},
		{"daily 12am", "every day at 0:00 Europe/Berlin", "", "Sun 2027-03-28 00:00 CET"},
		{"daily 12pm", "every day at 12:00 Europe/Berlin", "", "Sun 2027-03-28 12:00 CEST"},
		{"daily 9:30pm", "every day at 21:30 Europe/Berlin", "", "Sat 2027-03-27 21:30 CET"},
		{"daily at 17:00, 9:00 and at 13:00", "every day at 9:00, 13:00 and 17:00 Europe/Berlin", "", "Sat 2027-03-27 13:00 CET"},
		{"weekends 10:00", "every Saturday and Sunday at 10:00 Europe/Berlin", "", "Sun 2027-03-28 10:00 CEST"},
		{"fri-mon 10:00", "every Monday, Friday, Saturday and Sunday at 10:00 Europe/Berlin", "", "Sun 2027-03-28 10:00 CEST"},
		{"mon-sun 10:00", "every day at 10:00 Europe/Berlin", "", "Sun 2027-03-28 10:00 CEST"},
		{"every monday 8:00", "every Monday at 8:00 Europe/Berlin", "", "Mon 2027-03-29 08:00 CEST"},
		{"weekly monday 9:00", "every Monday at 9:00 Europe/Berlin", "", "Mon 2027-03-29 09:00 CEST"},
		{"every week on thurs at 9", "every Thursday at 9:00 Europe/Berlin", "", "Thu 2027-04-01 09:00 CEST"},
		{"every mon,wed,fri 8:30", "every Monday, Wednesday and Friday at 8:30 Europe/Berlin", "", "Mon 2027-03-29 08:30 CEST"},
		{"mondays and thursdays at 10:00", "every Monday and Thursday at 10:00 Europe/Berlin", "", "Mon 2027-03-29 10:00 CEST"},
		{"monthly on the 1st 9:00", "on the 1st of every month at 9:00 Europe/Berlin", "", "Thu 2027-04-01 09:00 CEST"},
		{"every 1st of the month at 9:00", "on the 1st of every month at 9:00 Europe/Berlin", "", "Thu 2027-04-01 09:00 CEST"},
		{"on the 15th and the 2nd of each month at 9", "on the 2nd and 15th of every month at 9:00 Europe/Berlin", "", "Fri 2027-04-02 09:00 CEST"},
		{"on the first day of the month at 9", "on the 1st of every month at 9:00 Europe/Berlin", "", "Thu 2027-04-01 09:00 CEST"},
		{"every month on the 31st at 9", "on the 31st of every month at 9:00 Europe/Berlin", "", "Wed 2027-03-31 09:00 CEST"},
		{"every last day of the month 18:00", "on the last day of every month at 18:00 Europe/Berlin", "", "Wed 2027-03-31 18:00 CEST"},
		{"monthly on the 3rd, 22nd and last day 18:00", "on the 3rd, 22nd and last day of every month at 18:00 Europe/Berlin", "", "Wed 2027-03-31 18:00 CEST"},
		{"hourly", "every hour Europe/Berlin", "", "Sat 2027-03-27 13:00 CET"},
		{"every 60 minutes", "every hour Europe/Berlin", "", "Sat 2027-03-27 13:00 CET"},
		{"every minute", "every minute Europe/Berlin", "", "Sat 2027-03-27 12:08 CET"},
		{"every 15 minutes", "every 15 minutes Europe/Berlin", "", "Sat 2027-03-27 12:15 CET"},
		{"every 15min", "every 15 minutes Europe/Berlin", "", "Sat 2027-03-27 12:15 CET"},
		{"every two hours", "every 2 hours Europe/Berlin", "", "Sat 2027-03-27 14:00 CET"},
		{"every 2h", "every 2 hours Europe/Berlin", "", "Sat 2027-03-27 14:00 CET"},
		{"every 90 minutes", "@every 1h30m Europe/Berlin", "", "Sat 2027-03-27 13:37 CET"},
		{"every 24 hours", "@every 24h Europe/Berlin", "", "Sun 2027-03-28 13:07 CEST"},
		{"@every 90m", "@every 1h30m Europe/Berlin", "", "Sat 2027-03-27 13:37 CET"},
		{"@every 75s", "@every 1m15s Europe/Berlin", "", "Sat 2027-03-27 12:08 CET"},
		{"@hourly", "every hour Europe/Berlin", "", "Sat 2027-03-27 13:00 CET"},
		{"@daily", "every day at 0:00 Europe/Berlin", "", "Sun 2027-03-28 00:00 CET"},
		{"@midnight", "every day at 0:00 Europe/Berlin", "", "Sun 2027-03-28 00:00 CET"},
		{"@weekly", "every Sunday at 0:00 Europe/Berlin", "", "Sun 2027-03-28 00:00 CET"},
		{"@monthly", "on the 1st of every month at 0:00 Europe/Berlin", "", "Thu 2027-04-01 00:00 CEST"},
		{"@yearly", "0 0 1 1 * Europe/Berlin", "", "Sat 2028-01-01 00:00 CET"},
		{"0 9 * * 1-5", "0 9 * * 1-5 Europe/Berlin", "", "Mon 2027-03-29 09:00 CEST"},
		{" 0   9 * *\tMON-FRI ", "0 9 * * mon-fri Europe/Berlin", "", "Mon 2027-03-29 09:00 CEST"},
		{"0 0 9 * * 1-5", "0 0 9 * * 1-5 Europe/Berlin", "", "Mon 2027-03-29 09:00 CEST"},
		{"0 9 * * 7", "0 9 * * 7 Europe/Berlin", "", "Sun 2027-03-28 09:00 CEST"},
		{"0 9 * * 6-7", "0 9 * * 6-7 Europe/Berlin", "", "Sun 2027-03-28 09:00 CEST"},
		{"0 9 l * *", "0 9 L * * Europe/Berlin", "", "Wed 2027-03-31 09:00 CEST"},
		{"0 9 15,L jul ?", "0 9 15,L jul ? Europe/Berlin", "", "Thu 2027-07-15 09:00 CEST"},
		{"0 9 29 2 *", "0 9 29 2 * Europe/Berlin", "", "Tue 2028-02-29 09:00 CET"},
		// Zones.
		{"every weekday 9:00 America/New_York", "every weekday at 9:00 America/New_York", "", "Mon 2027-03-29 09:00 EDT"},
		{"every weekday 9:00 in asia/ho_chi_minh", "every weekday at 9:00 Asia/Ho_Chi_Minh", "", "Mon 2027-03-29 09:00 +07"},
		{"0 9 * * * utc", "0 9 * * * UTC", "", "Sun 2027-03-28 09:00 UTC"},
		{"daily 9:00 CET", "every day at 9:00 CET", "", "Sun 2027-03-28 09:00 CEST"},
		{"every day at 9:00 (Asia/Tokyo)", "every day at 9:00 Asia/Tokyo", "", "Sun 2027-03-28 09:00 JST"},
		{"@every 90m Asia/Tokyo", "@every 1h30m Asia/Tokyo", "", "Sat 2027-03-27 21:37 JST"},
		// What follows.
		{"every weekday 9:00 here always", "every weekday at 9:00 Europe/Berlin", "here always", "Mon 2027-03-29 09:00 CEST"},
		{"0 9 * * 1-5 #ops", "0 9 * * 1-5 Europe/Berlin", "#ops", "Mon 2027-03-29 09:00 CEST"},
		{"0 9 * * 1-5 UTC #ops always", "0 9 * * 1-5 UTC", "#ops always", "Mon 2027-03-29 09:00 UTC"},
		{"hourly here", "every hour Europe/Berlin", "here", "Sat 2027-03-27 13:00 CET"},
		{"@every 2h always", "@every 2h Europe/Berlin", "always", "Sat 2027-03-27 14:07 CET"},
		{"every monday 8:00: water the plants", "every Monday at 8:00 Europe/Berlin", "water the plants", "Mon 2027-03-29 08:00 CEST"},
		{"every monday 8:00:water the plants", "every Monday at 8:00 Europe/Berlin", "water the plants", "Mon 2027-03-29 08:00 CEST"},
		{"every monday at 8 : at 9:00 and 10:00 ask", "every Monday at 8:00 Europe/Berlin", "at 9:00 and 10:00 ask", "Mon 2027-03-29 08:00 CEST"},
		{"every monday 8:00 UTC: :tada: and all", "every Monday at 8:00 UTC", ":tada: and all", "Mon 2027-03-29 08:00 UTC"},
		{"daily 9:00, and water the plants", "every day at 9:00 Europe/Berlin", "and water the plants", "Sun 2027-03-28 09:00 CEST"},
		{"0 9 * * *: 5 * 5", "0 9 * * * Europe/Berlin", "5 * 5", "Sun 2027-03-28 09:00 CEST"},
		{"daily 9:00 Berlin", "every day at 9:00 Europe/Berlin", "Berlin", "Sun 2027-03-28 09:00 CEST"},
		{"every monday 8:00:\nfirst line\nsecond: line", "every Monday at 8:00 Europe/Berlin", "first line\nsecond: line", "Mon 2027-03-29 08:00 CEST"},
	} {
		w, rest, err := ParsePrefix(c.text, berlin, created(t))
		if err != nil {
			t.Errorf("%q: %v", c.text, err)
			continue
		}
		if next := w.Next(created(t)).Format(shown); w.Spec() != c.spec || rest != c.rest || next != c.next {
			t.Errorf("%q is %q, %q follows, first at %s; want %q, %q, %s", c.text, w.Spec(), rest, next, c.spec, c.rest, c.next)
		}
		again, err := Parse(w.Spec(), time.UTC, created(t))
		if err != nil || !again.Equal(w) {
			t.Errorf("%q is read back as %q: %v", w.Spec(), again.Spec(), err)
		}
		if _, err := Parse(c.text, berlin, created(t)); (err == nil) != (c.rest == "") {
			t.Errorf("Parse(%q): %v", c.text, err)
		}
	}
}

// Every refusal says what is wrong and what to write.
func TestRefusals(t *testing.T) {
	for text, want := range map[string]string{
		"every weekday":                     `"every weekday" needs a time of day: write for example "every weekday at 9:00"`,
		"every day here":                    `"every day at 9:00"`,
		"daily at":                          `"every day at 9:00"`,
		"daily at lunch":                    `"every day" was understood, but "lunch" is no time of day`,
		"daily 24:00":                       `midnight is 0:00`,
		"daily 25:00":                       `"25:00" is no time of day, which go from 0:00 to 23:59`,
		"daily 9:60":                        `"9:60" is no time of day`,
		"daily 9:00:30":                     `"9:00:30" is no time of day`,
		"daily 17h30":                       `"17h30" is no time of day`,
		"daily 13pm":                        `am and pm go with 1 to 12`,
		"daily 0 am":                        `am and pm go with 1 to 12`,
		"daily 9:00 and 17:30":              `make two, for example "every day at 17:30"`,
		"at 9:00":                           `not on which days: write for example "every day at 9:00"`,
		"9":                                 `not on which days`,
		"at lunch":                          `no schedule was found: "lunch" is no time of day`,
		"weekly 9:00":                       `not on which day: write for example "every Monday at 9:00"`,
		"monthly 9:00":                      `on the 1st of every month at 9:00`,
		"monthly on the last friday 9:00":   `weekdays cannot be counted`,
		"every 1st monday at 9:00":          `weekdays cannot be counted`,
		"the first monday of the month 9":   `weekdays cannot be counted`,
		"on the 31st at 9":                  `"on the 31st of every month at 9:00"`,
		"every 2 days at 9:00":              `"@every 48h"`,
		"every other week":                  `"every Monday and Thursday at 9:00"`,
		"every second monday 9:00":          `"every Monday and Thursday at 9:00"`,
		"every 0 minutes":                   `at least one and at most ten years`,
		"every 999999 hours":                `at most ten years`,
		"@every 500ms":                      `takes whole seconds`,
		"@every -5m":                        `takes whole seconds`,
		"@every":                            `"" is no length of time behind @every`,
		"@every 2d":                         `"2d" is no length of time behind @every: write for example "@every 90m"`,
		"@never":                            `"@never" is none of @every, @hourly`,
		"0 9 * *":                           `"0 9 * *" has 4 fields of a cron line, which has five`,
		"* here":                            `has 1 field of a cron line`,
		"0 0 0 9 * * 1":                     `has 7 fields of a cron line`,
		"61 * * * *":                        `above maximum (59)`,
		"0 9 31 2 *":                        `never comes: there is no such date`,
		"0 9 30 2 *":                        `never comes`,
		"0 9 , * *":                         `never comes`,
		"0 9 * * 8":                         `above maximum (6)`,
		"0 9 * l *":                         `cannot be read`,
		"0 */0 * * *":                       `step of range should be a positive number`,
		"every weekday 9:00 CEST":           `"every weekday at 9:00" was understood, but "CEST" is no name of a time zone: write an IANA name, for example Europe/Berlin`,
		"daily 9am pst":                     `America/Los_Angeles`,
		"daily 9am PT":                      `America/Los_Angeles`,
		"daily 9:00 Europe/Berln":           `there is no time zone "Europe/Berln": write an IANA name, for example Europe/Berlin`,
		"daily 9:00 America/Berlin":         `for example Europe/Berlin`,
		"daily 9:00 Asia/Calcuta":           `for example Asia/Calcutta`,
		"daily 9:00 ../../etc/passwd":       `there is no time zone`,
		"daily 9:00 Berlin":                 `"Berlin": a time zone is written as Europe/Berlin`,
		"daily 9:00 new york":               `a time zone is written as America/New_York`,
		"daily 9:00 Local":                  `not "Local" behind it`,
		"hourly on weekdays":                `"every hour UTC" was understood, but not "on weekdays" behind it`,
		"every second":                      `no schedule was found`,
		"every customer complaint":          `no schedule was found in "every customer complaint": write for example`,
		"":                                  `no schedule was found`,
		":":                                 `no schedule was found`,
		"#ops":                              `no schedule was found`,
		strings.Repeat("every ", 10_000):    `no schedule was found`,
		strings.Repeat("monday and ", 1000): `needs a time of day`,
	} {
		w, err := Parse(text, time.UTC, created(t))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q is %q: %v\nwant %s", short(text), w, err, want)
		}
		if errors.Is(err, ErrUnknown) != strings.HasPrefix(want, "no schedule") {
			t.Errorf("%q: as no schedule at all: %t", short(text), errors.Is(err, ErrUnknown))
		}
	}
}

// A schedule is written down with its zone: a zone without a name is refused.
func TestNamedZones(t *testing.T) {
	for _, zone := range []*time.Location{time.Local, time.FixedZone("here", 3600)} {
		if w, err := Parse("daily 9:00", zone, time.Time{}); err == nil || !strings.Contains(err.Error(), "IANA") {
			t.Errorf("in %s: %v, %v", zone, w, err)
		}
	}
	w, err := Parse("daily 9:00", nil, time.Time{})
	if err != nil || w.Zone() != time.UTC {
		t.Errorf("without a zone: %v, %v", w.Zone(), err)
	}
	for name := range strings.Lines(zones) {
		if _, err := Parse("daily 9:00 "+strings.ToUpper(name), nil, time.Time{}); err != nil {
			t.Error(err)
		}
	}
}

func TestStringAndOften(t *testing.T) {
	for _, c := range []struct {
		text, shown string
		often       time.Duration
	}{
		{"weekdays 9", "every weekday at 9:00 (Europe/Berlin)", 24 * time.Hour},
		{"mondays 9", "every Monday at 9:00 (Europe/Berlin)", 7 * 24 * time.Hour},
		{"daily at 9:00 and 17:00", "every day at 9:00 and 17:00 (Europe/Berlin)", 8 * time.Hour},
		{"monthly on the 1st 9:00", "on the 1st of every month at 9:00 (Europe/Berlin)", 28 * 24 * time.Hour},
		{"0 9 29 2 *", "by cron 0 9 29 2 * (Europe/Berlin)", 4*365*24*time.Hour + 24*time.Hour},
		{"0 9 * * 1-5", "by cron 0 9 * * 1-5 (Europe/Berlin)", 24 * time.Hour},
		{"0 22,1 * * *", "by cron 0 22,1 * * * (Europe/Berlin)", 3 * time.Hour},
		{"0 22,1 * * 1", "by cron 0 22,1 * * 1 (Europe/Berlin)", 21 * time.Hour},
		{"*/7 * * * *", "by cron */7 * * * * (Europe/Berlin)", 4 * time.Minute},
		{"*/2 * * * * *", "by cron */2 * * * * * (Europe/Berlin)", 2 * time.Second},
		{"59,0 * * * * *", "by cron 59,0 * * * * * (Europe/Berlin)", time.Second},
		{"hourly", "every hour (Europe/Berlin)", time.Hour},
		{"@every 90m", "every 90 minutes", 90 * time.Minute},
		{"@every 1h", "every hour", time.Hour},
		{"@every 26h", "every 26 hours", 26 * time.Hour},
		{"every 45 seconds", "every 45 seconds", 45 * time.Second},
	} {
		w, err := Parse(c.text, place(t, "Europe/Berlin"), created(t))
		if err != nil {
			t.Error(err)
		} else if w.String() != c.shown || w.Often() != c.often {
			t.Errorf("%q is shown as %q, every %s at most", c.text, w, w.Often())
		}
	}
}

// The zero value is harmless, and equal to itself alone.
func TestZero(t *testing.T) {
	var w When
	if !w.IsZero() || !w.Next(created(t)).IsZero() || w.Often() != 0 || w.Spec() != "" || w.String() != "never" || w.Zone() != nil {
		t.Errorf("%v is not zero", w)
	}
	if got := Due(w, created(t), created(t).Add(time.Hour), time.Minute, Late); !got.Until.IsZero() {
		t.Errorf("due is %+v", got)
	}
	other, err := Parse("hourly", nil, time.Time{})
	if err != nil || other.IsZero() || w.Equal(other) || !w.Equal(When{}) {
		t.Errorf("equal: %v", err)
	}
}
