package egress

import (
	"fmt"
	"net"
	"slices"
	"strconv"
	"strings"
)

// pattern is a host or a domain, with or without a port.
type pattern struct {
	host string // lower case; "*": every host; ".example.com": what is below it
	port string // empty: every port that hosts may be reached at
}

// parsePattern reads "example.com", "*.example.com", "localhost:8080", "[::1]:80" or "*".
func parsePattern(s string) (pattern, error) {
	host, port := s, ""
	if h, p, err := net.SplitHostPort(s); err == nil {
		if n, err := strconv.ParseUint(p, 10, 16); err != nil || n == 0 {
			return pattern{}, fmt.Errorf("%q has no port such as 8080", s)
		}
		host, port = h, p
	}
	below := ""
	if rest, is := strings.CutPrefix(host, "*."); is {
		host, below = rest, "."
	}
	if host == "*" && below == "" {
		return pattern{"*", port}, nil
	}
	name, err := hostName(host)
	if err != nil {
		return pattern{}, fmt.Errorf("%q is not a host such as example.com, *.example.com or localhost:8080", s)
	}
	return pattern{below + name, port}, nil
}

// parsePatterns reads a list of patterns.
func parsePatterns(list []string) ([]pattern, error) {
	patterns := make([]pattern, 0, len(list))
	for _, s := range list {
		p, err := parsePattern(s)
		if err != nil {
			return nil, err
		}
		patterns = append(patterns, p)
	}
	return patterns, nil
}

// holds reports whether the pattern names the host at the port.
func (p pattern) holds(host, port string) bool {
	if p.port != "" && p.port != port {
		return false
	}
	if strings.HasPrefix(p.host, ".") {
		return strings.HasSuffix(host, p.host)
	}
	return p.host == "*" || p.host == host
}

// anyHolds reports whether one of the patterns names the host at the port.
func anyHolds(list []pattern, host, port string) bool {
	return slices.ContainsFunc(list, func(p pattern) bool { return p.holds(host, port) })
}

// hostName is a host as it is compared: lower case, without a dot at its end;
// addresses as they are written. net/http gives names in ASCII (IDNA).
func hostName(host string) (string, error) {
	host = strings.TrimSuffix(strings.ToLower(strings.Trim(host, "[]")), ".")
	if host == "" || strings.ContainsAny(host, " /\\@?#%\x00") {
		return "", fmt.Errorf("%q is no host", host)
	}
	return host, nil
}
