package egress

import (
	"encoding/binary"
	"net/netip"
)

// reach is who may reach an address at all.
type reach int

const (
	public  reach = iota // everybody
	private              // where the configuration allows it for a host
	never                // nobody
)

// special is a block of addresses that are not simply somewhere in the internet.
type special struct {
	block netip.Prefix
	reach reach
	what  string
}

// specials are the blocks of the IANA special-purpose registries (RFC 6890) and the
// addresses at which clouds give out credentials. The first one that holds an
// address counts.
var specials = []special{
	// credentials of machines
	{netip.MustParsePrefix("169.254.169.254/32"), never, "the metadata service of a cloud"},
	{netip.MustParsePrefix("169.254.170.2/32"), never, "the metadata service of a cloud"},
	{netip.MustParsePrefix("100.100.100.200/32"), never, "the metadata service of a cloud"},
	{netip.MustParsePrefix("168.63.129.16/32"), never, "the metadata service of a cloud"},
	{netip.MustParsePrefix("192.0.0.192/32"), never, "the metadata service of a cloud"},
	{netip.MustParsePrefix("fd00:ec2::/32"), never, "the metadata service of a cloud"},
	{netip.MustParsePrefix("fd20:ce::254/128"), never, "the metadata service of a cloud"},
	// IPv4
	{netip.MustParsePrefix("0.0.0.0/8"), never, "an unspecified address"},
	{netip.MustParsePrefix("127.0.0.0/8"), private, "a loopback address"},
	{netip.MustParsePrefix("10.0.0.0/8"), private, "a private address"},
	{netip.MustParsePrefix("172.16.0.0/12"), private, "a private address"},
	{netip.MustParsePrefix("192.168.0.0/16"), private, "a private address"},
	{netip.MustParsePrefix("100.64.0.0/10"), private, "a private address"},
	{netip.MustParsePrefix("169.254.0.0/16"), never, "a link-local address"},
	{netip.MustParsePrefix("192.0.0.0/24"), never, "a reserved address"},
	{netip.MustParsePrefix("192.0.2.0/24"), never, "a reserved address"},
	{netip.MustParsePrefix("192.88.99.0/24"), never, "a reserved address"},
	{netip.MustParsePrefix("198.18.0.0/15"), never, "a reserved address"},
	{netip.MustParsePrefix("198.51.100.0/24"), never, "a reserved address"},
	{netip.MustParsePrefix("203.0.113.0/24"), never, "a reserved address"},
	{netip.MustParsePrefix("224.0.0.0/4"), never, "a multicast address"},
	{netip.MustParsePrefix("240.0.0.0/4"), never, "a reserved address"},
	// IPv6
	{netip.MustParsePrefix("::/128"), never, "an unspecified address"},
	{netip.MustParsePrefix("::1/128"), private, "a loopback address"},
	{netip.MustParsePrefix("fc00::/7"), private, "a private address"},
	{netip.MustParsePrefix("fe80::/10"), never, "a link-local address"},
	{netip.MustParsePrefix("fec0::/10"), never, "a private address"},
	{netip.MustParsePrefix("ff00::/8"), never, "a multicast address"},
	{netip.MustParsePrefix("64:ff9b:1::/48"), never, "a translated address"},
	{netip.MustParsePrefix("100::/64"), never, "a reserved address"},
	{netip.MustParsePrefix("2001::/23"), never, "a reserved address"}, // Teredo and ORCHID among them
	{netip.MustParsePrefix("2001:db8::/32"), never, "a reserved address"},
	{netip.MustParsePrefix("3fff::/20"), never, "a reserved address"},
	{netip.MustParsePrefix("5f00::/16"), never, "a reserved address"},
}

// Blocks of IPv6 addresses that hold an IPv4 address.
var (
	nat64      = netip.MustParsePrefix("64:ff9b::/96")
	sixToFour  = netip.MustParsePrefix("2002::/16")
	compatible = netip.MustParsePrefix("::/96")
)

// isatap is what stands before the IPv4 address in an interface id (RFC 5214); its
// first byte says whether the address is unique and is not compared.
const isatap = 0x00005efe

// embedded is the IPv4 address that an IPv6 address leads to, if it does.
func embedded(a netip.Addr) (v4 netip.Addr, is bool) {
	b := a.As16()
	switch {
	case nat64.Contains(a), compatible.Contains(a) && binary.BigEndian.Uint32(b[12:]) > 1:
		return netip.AddrFrom4([4]byte(b[12:16])), true
	case sixToFour.Contains(a):
		return netip.AddrFrom4([4]byte(b[2:6])), true
	case binary.BigEndian.Uint32(b[8:])&^0x03000000 == isatap:
		return netip.AddrFrom4([4]byte(b[12:16])), true
	}
	return netip.Addr{}, false
}

// reachOf says who may reach an address, and what it is where that is not
// everybody. An IPv6 address that leads to an IPv4 address is judged by that one,
// and nobody may reach a private one in such a disguise.
func reachOf(a netip.Addr) (r reach, what string) {
	if !a.IsValid() || a.Zone() != "" {
		return never, "a link-local address"
	}
	a = a.Unmap()
	for _, s := range specials {
		if s.block.Contains(a) {
			return s.reach, s.what
		}
	}
	if a.Is6() {
		if v4, is := embedded(a); is {
			if r, what := reachOf(v4); r != public {
				return never, what + " in disguise"
			}
		}
	}
	return public, ""
}

// Private reports whether an address is not simply somewhere in the internet.
func Private(a netip.Addr) bool {
	r, _ := reachOf(a)
	return r != public
}
