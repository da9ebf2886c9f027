package redis

// What the server's errors mean.

import (
	"errors"
	"strings"

	"github.com/redis/go-redis/v9"

	"github.com/deckhand-bot/deckhand/agent"
)

// passing are the first words of the errors that a server gives for a while: it
// loads its data, is full, cannot write its disk, has too few replicas, runs
// somebody's long script, became a replica, or a Cluster is moving slots. A
// password that is refused is somebody's to mend, at the server or here.
var passing = []string{
	"LOADING", "OOM", "MISCONF", "NOREPLICAS", "BUSY", "READONLY", "MASTERDOWN", "CLUSTERDOWN", "TRYAGAIN", "MOVED", "ASK",
	"NOAUTH", "WRONGPASS", "NOSCRIPT", "UNBLOCKED", "ERR max number of clients", "ERR upstream", "ERR Proxy",
}

// lasts reports whether an error is the server's answer and stays so: NOPERM,
// WRONGTYPE, a script that fails. What is no answer is of the connection.
func lasts(err error) bool {
	reply, is := errors.AsType[redis.Error](err)
	if !is || errors.Is(err, redis.Nil) || errors.Is(err, ErrReplicas) || errors.Is(err, agent.ErrPermanent) {
		return false
	}
	word := strings.TrimPrefix(reply.Error(), "redis: ")
	for _, p := range passing {
		if strings.HasPrefix(word, p) {
			return false
		}
	}
	return true
}
