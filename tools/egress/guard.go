package egress

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"strconv"
	"time"
)

// ErrRefused is wrapped by every refusal of this package: it is the
// configuration's word, and trying again does not help.
var ErrRefused = errors.New("not allowed")

// Resolver turns a name into addresses, as net.Resolver does.
type Resolver interface {
	LookupNetIP(ctx context.Context, network, host string) ([]netip.Addr, error)
}

// Config says what may be reached. The zero value is every public address, at the
// ports of the web.
type Config struct {
	// Hosts are all that may be reached ("example.com", "*.example.com",
	// "api.example.com:8443"); empty: every public one.
	Hosts []string
	// AllowPrivate are the hosts whose loopback and private addresses may be
	// reached as well ("localhost:8080", "*.corp.example", "*"), at every port or
	// the one that is named. Addresses that are link-local, multicast or a cloud's
	// metadata service never are.
	AllowPrivate []string
	// Off cuts everything off that leaves the host (tools.internet: false). Loopback
	// addresses that AllowPrivate names stay.
	Off bool
	// Bytes bounds an answer's body, Time a whole exchange, Redirects how many are
	// followed; 0: 10 MiB, 30 s, 5. Transport bounds neither bytes nor time.
	Bytes     int64
	Time      time.Duration
	Redirects int
	// Resolver is net.DefaultResolver where nil.
	Resolver Resolver
}

// The bounds where a configuration names none.
const (
	defaultBytes     = 10 << 20
	defaultTime      = 30 * time.Second
	defaultRedirects = 5
	dialTime         = 10 * time.Second
)

// webPorts are the ports at which any host may be reached.
var webPorts = []string{"80", "443", "8080", "8443"}

// Guard dials what its configuration allows. It may be used from many goroutines.
type Guard struct {
	c              Config
	hosts, private []pattern
	dialer         net.Dialer
}

// New returns a guard; an error names the host that cannot be read.
func New(c Config) (*Guard, error) {
	if c.Bytes <= 0 {
		c.Bytes = defaultBytes
	}
	if c.Time <= 0 {
		c.Time = defaultTime
	}
	if c.Redirects <= 0 {
		c.Redirects = defaultRedirects
	}
	if c.Resolver == nil {
		c.Resolver = net.DefaultResolver
	}
	g := &Guard{c: c, dialer: net.Dialer{Timeout: dialTime, KeepAlive: 30 * time.Second}}
	var err error
	if g.hosts, err = parsePatterns(c.Hosts); err != nil {
		return nil, err
	}
	if g.private, err = parsePatterns(c.AllowPrivate); err != nil {
		return nil, err
	}
	return g, nil
}

func refused(format string, args ...any) error {
	return fmt.Errorf("%s: %w", fmt.Sprintf(format, args...), ErrRefused)
}

// allowed says whether a host may be reached at a port, before it is resolved.
func (g *Guard) allowed(host, port string) error {
	own := anyHolds(g.private, host, port)
	switch {
	case g.c.Off && !own:
		return refused("%s lies outside this host, and the internet is switched off (tools.internet: false)", host)
	case len(g.hosts) > 0 && !anyHolds(g.hosts, host, port) && !own:
		return refused("%s is not among the hosts that may be reached (tools.hosts)", net.JoinHostPort(host, port))
	case !own && !slices.Contains(webPorts, port) && !g.named(host, port):
		return refused("port %s of %s is not one of the web's (80, 443, 8080, 8443); name %s in tools.hosts to allow it", port, host, net.JoinHostPort(host, port))
	}
	return nil
}

// named reports whether a pattern names the very port.
func (g *Guard) named(host, port string) bool {
	return slices.ContainsFunc(g.hosts, func(p pattern) bool { return p.port == port && p.holds(host, port) })
}

// Resolve returns the addresses of a host that may be dialled at the port: all of
// them are checked, and one that may not be reached refuses the name.
func (g *Guard) Resolve(ctx context.Context, host, port string) ([]netip.AddrPort, error) {
	name, err := hostName(host)
	if err != nil {
		return nil, refused("%v", err)
	}
	number, err := net.DefaultResolver.LookupPort(ctx, "tcp", port)
	if err != nil {
		return nil, refused("%q is no port", port)
	}
	port = strconv.Itoa(number)
	if err := g.allowed(name, port); err != nil {
		return nil, err
	}
	addrs, err := g.lookup(ctx, name)
	if err != nil {
		return nil, err
	}
	list := make([]netip.AddrPort, len(addrs))
	for i, a := range addrs {
		if err := g.mayReach(name, port, a); err != nil {
			return nil, err
		}
		list[i] = netip.AddrPortFrom(a.Unmap(), uint16(number))
	}
	return list, nil
}

// lookup are the addresses of a name, or the one that it is.
func (g *Guard) lookup(ctx context.Context, name string) ([]netip.Addr, error) {
	if a, err := netip.ParseAddr(name); err == nil {
		return []netip.Addr{a}, nil
	}
	addrs, err := g.c.Resolver.LookupNetIP(ctx, "ip", name)
	if err != nil {
		return nil, fmt.Errorf("%s cannot be resolved: %w", name, err)
	}
	if len(addrs) == 0 {
		return nil, fmt.Errorf("%s has no address", name)
	}
	return addrs, nil
}

// mayReach says whether a resolved address may be dialled.
func (g *Guard) mayReach(name, port string, a netip.Addr) error {
	r, what := reachOf(a)
	own := anyHolds(g.private, name, port)
	switch {
	case r == public && g.c.Off:
		return refused("%s lies outside this host, and the internet is switched off (tools.internet: false)", name)
	case r == public:
		return nil
	case r == private && own && g.c.Off && !a.Unmap().IsLoopback():
		return refused("%s lies outside this host, and the internet is switched off (tools.internet: false)", name)
	case r == private && own:
		return nil
	}
	return refused("%s leads to %s, %s, which no tool may reach", name, a, what)
}

// DialContext dials a host that may be reached. The address that is dialled is one
// that was checked.
func (g *Guard) DialContext(ctx context.Context, network, address string) (net.Conn, error) {
	switch network {
	case "tcp", "tcp4", "tcp6":
	default:
		return nil, refused("%s connections", network)
	}
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return nil, refused("%q is no address with a port", address)
	}
	ctx, cancel := context.WithTimeout(ctx, dialTime)
	defer cancel()
	addrs, err := g.Resolve(ctx, host, port)
	if err != nil {
		return nil, err
	}
	var failed error
	for _, a := range addrs {
		conn, err := g.dialer.DialContext(ctx, network, a.String())
		if err == nil {
			return conn, nil
		}
		failed = errors.Join(failed, err)
	}
	return nil, fmt.Errorf("%s does not answer: %w", host, failed)
}
