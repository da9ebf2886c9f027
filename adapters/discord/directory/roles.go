package directory

import (
	"strings"
	"sync"

	"github.com/bwmarrin/discordgo"
)

// roles are the names of roles, by their servers.
type roles struct {
	mu    sync.Mutex
	names map[string]map[string]string
}

// learn notes all roles of a server, or some that came or changed.
func (r *roles) learn(guild string, list []discordgo.Role) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.names[guild] == nil {
		r.names[guild] = map[string]string{}
	}
	for _, o := range list {
		r.names[guild][o.ID] = o.Name
	}
}

// forget forgets a role, or with no id all of a server.
func (r *roles) forget(guild, id string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if id == "" {
		delete(r.names, guild)
		return
	}
	delete(r.names[guild], id)
}

// name is how people see a role of the server.
func (r *roles) name(guild, id string) string {
	r.mu.Lock()
	defer r.mu.Unlock()
	if name := strings.TrimPrefix(r.names[guild][id], "@"); name != "" {
		return name
	}
	return "role"
}

// RoleName is how people see a role of the server.
func (d *Directory) RoleName(guild, id string) string { return d.roles.name(guild, id) }
