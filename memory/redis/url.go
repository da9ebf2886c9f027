package redis

// Addresses of one Redis, a Sentinel group or a Cluster.

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/maintnotifications"
)

// ErrURL is returned for a Redis URL of no known form. The URL is not quoted:
// it may hold a password.
var ErrURL = errors.New("the Redis URL cannot be read; write redis://[USER:PASSWORD@]HOST:PORT[/DB] (rediss: TLS), " +
	"redis+sentinel://HOST:PORT?master_name=NAME[&addr=HOST:PORT] or redis+cluster://HOST:PORT[?addr=HOST:PORT], " +
	"with %-escapes for special characters in a password")

// server is a client and what it talks to.
type server struct {
	client  redis.UniversalClient
	address string // for messages: without user and password
	cluster bool
}

// quiet keeps the client from asking the server for maintenance notices, which
// only Redis' own cloud sends.
var quiet = &maintnotifications.Config{Mode: maintnotifications.ModeDisabled}

// connect makes the client for a URL; nothing is sent yet.
func connect(url string) (server, error) {
	scheme, rest, ok := strings.Cut(url, "://")
	if !ok {
		return server{}, ErrURL
	}
	plain, kind, _ := strings.Cut(scheme, "+")
	if plain != "redis" && plain != "rediss" {
		return server{}, ErrURL
	}
	url = plain + "://" + rest
	switch kind {
	case "":
		return connectOne(url)
	case "sentinel":
		return connectSentinels(url)
	case "cluster":
		return connectCluster(url)
	}
	return server{}, ErrURL
}

func connectOne(url string) (server, error) {
	o, err := redis.ParseURL(url)
	if err != nil {
		return server{}, ErrURL
	}
	o.MaintNotificationsConfig = quiet
	return server{client: redis.NewClient(o), address: o.Addr}, nil
}

func connectSentinels(url string) (server, error) {
	o, err := redis.ParseFailoverURL(url)
	if err != nil || o.MasterName == "" || o.RouteByLatency || o.RouteRandomly || o.ReplicaOnly {
		return server{}, ErrURL
	}
	address := fmt.Sprintf("master %s of the sentinels %s", o.MasterName, strings.Join(o.SentinelAddrs, ", "))
	return server{client: redis.NewFailoverClient(o), address: address}, nil
}

func connectCluster(url string) (server, error) {
	o, err := redis.ParseClusterURL(url)
	if err != nil || o.ReadOnly || o.RouteByLatency || o.RouteRandomly {
		return server{}, ErrURL
	}
	o.MaintNotificationsConfig = quiet
	// By default a client that loses a master's connection without being told of
	// its successor keeps to it for a minute.
	o.ClusterStateReloadInterval = time.Second
	return server{client: redis.NewClusterClient(o), address: strings.Join(o.Addrs, ", "), cluster: true}, nil
}
