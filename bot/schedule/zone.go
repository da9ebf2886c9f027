package schedule

import (
	"cmp"
	_ "embed"
	"fmt"
	"strings"
	"time"

	"github.com/deckhand-bot/deckhand/agent/format"
)

// Time zones by their names, and the one that somebody probably meant.

// zones are the names of the IANA time zone database, one a line: the database
// of the system can be asked for a name, but not for its names.
//
//go:embed zones.txt
var zones string

// abbreviations are what people write who mean a zone, and a name that has it.
// Several are used in more than one place: the error lets the person choose.
var abbreviations = map[string]string{
	"cest": "Europe/Berlin", "mez": "Europe/Berlin", "mesz": "Europe/Berlin", "eest": "Europe/Helsinki", "west": "Europe/Lisbon",
	"bst": "Europe/London", "msk": "Europe/Moscow", "trt": "Europe/Istanbul",
	"edt": "America/New_York", "et": "America/New_York", "cst": "America/Chicago", "cdt": "America/Chicago", "ct": "America/Chicago",
	"mdt": "America/Denver", "mt": "America/Denver", "pst": "America/Los_Angeles", "pdt": "America/Los_Angeles", "pt": "America/Los_Angeles",
	"akst": "America/Anchorage", "akdt": "America/Anchorage", "brt": "America/Sao_Paulo",
	"ist": "Asia/Kolkata", "jst": "Asia/Tokyo", "kst": "Asia/Seoul", "sgt": "Asia/Singapore", "hkt": "Asia/Hong_Kong", "pht": "Asia/Manila", "wib": "Asia/Jakarta", "gst": "Asia/Dubai", "pkt": "Asia/Karachi",
	"aest": "Australia/Sydney", "aedt": "Australia/Sydney", "acst": "Australia/Adelaide", "awst": "Australia/Perth", "nzst": "Pacific/Auckland", "nzdt": "Pacific/Auckland",
	"sast": "Africa/Johannesburg",
}

// namedZone is the zone that a schedule can be written down with.
func namedZone(zone *time.Location) (*time.Location, error) {
	if zone == nil {
		return time.UTC, nil
	}
	if found, err := zoneOf(zone.String()); found != nil && err == nil {
		return found, nil
	}
	return nil, fmt.Errorf("the time zone %q is another one on every machine: give one by its IANA name, such as Europe/Berlin or UTC", zone)
}

// zoneOf is the zone that a word names in any case: nil without an error if the
// word is none, an error if it can be meant as nothing else.
func zoneOf(word string) (*time.Location, error) {
	word = strings.TrimSuffix(strings.TrimPrefix(word, "("), ")")
	if word == "" || strings.EqualFold(word, "local") || (len(word) == 2 && word != strings.ToUpper(word)) {
		return nil, nil //nolint:nilnil // no zone, and nothing wrong
	}
	for name := range strings.Lines(zones) {
		if name = strings.TrimSpace(name); strings.EqualFold(name, word) {
			zone, err := time.LoadLocation(name)
			if err != nil {
				return nil, fmt.Errorf("the time zone %s is not on this machine (install its time zone data): %w", name, err)
			}
			return zone, nil
		}
	}
	if name, known := abbreviations[strings.ToLower(word)]; known {
		return nil, fmt.Errorf("%q is no name of a time zone: write an IANA name, for example %s", word, name)
	}
	if !strings.Contains(word, "/") {
		return nil, nil //nolint:nilnil // as above
	}
	if zone, err := time.LoadLocation(word); err == nil { // the system's list may be newer
		return zone, nil
	}
	return nil, fmt.Errorf("there is no time zone %q: write an IANA name, for example %s", short(word), nearestZone(word))
}

// ZoneOfCity is the IANA name of the zone of a city, in any case: of "Berlin"
// it is "Europe/Berlin"; empty if no zone is called so.
func ZoneOfCity(word string) string {
	word = strings.ReplaceAll(strings.TrimSpace(word), " ", "_")
	for name := range strings.Lines(zones) {
		name = strings.TrimSpace(name)
		if i := strings.LastIndexByte(name, '/'); i >= 0 && strings.EqualFold(name[i+1:], word) {
			return name
		}
	}
	return ""
}

// nearestZone is the name that takes the fewest edits.
func nearestZone(word string) string {
	if city := ZoneOfCity(word[strings.LastIndexByte(word, '/')+1:]); city != "" {
		return city
	}
	return cmp.Or(format.Nearest(word, strings.Fields(zones), len(word)/2), "Europe/Berlin")
}
