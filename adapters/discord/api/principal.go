package api

import "strings"

// Platform is the name of the platform: what its principals and addresses begin with.
const Platform = "discord"

// Principal is a person or a bot as authority names them.
func Principal(id string) string { return Platform + ":" + id }

// RolePrincipal is a role as authority names it.
func RolePrincipal(id string) string { return Platform + ":&" + id }

// UserID is the id of a person, if the principal is one of Discord's.
func UserID(principal string) (id string, is bool) {
	id, is = strings.CutPrefix(principal, Platform+":")
	return id, is && IsID(id)
}
