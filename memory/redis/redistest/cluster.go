package redistest

// A Redis Cluster for a test: three masters, each with a replica.

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
)

const (
	masters = 3
	slots   = 16384
	// nodeTimeout is after how many milliseconds of silence a node counts as
	// gone. A failover takes about twice as long.
	nodeTimeout = "1500"
)

// Cluster is a Redis Cluster of three masters and three replicas. Its methods
// are for one goroutine.
type Cluster struct {
	URL   string // redis+cluster://…, with the addresses of all nodes
	Nodes []*Server

	t testing.TB
}

// StartCluster runs a Cluster of six nodes and returns when each slot has a
// master and each master a replica. More arguments for each redis-server may
// follow. The nodes are killed at the test's end.
func StartCluster(t testing.TB, args ...string) *Cluster {
	t.Helper()
	c := &Cluster{t: t}
	for range 2 * masters {
		c.Nodes = append(c.Nodes, startNode(t, args))
	}
	var others []string
	for _, s := range c.Nodes {
		others = append(others, "addr="+s.Addr)
	}
	c.URL = "redis+cluster://" + c.Nodes[0].Addr + "?" + strings.Join(others[1:], "&")
	for i, s := range c.Nodes {
		c.must(s, "CLUSTER", "SET-CONFIG-EPOCH", strconv.Itoa(i+1))
		if i < masters {
			c.must(s, "CLUSTER", "ADDSLOTSRANGE", strconv.Itoa(i*slots/masters), strconv.Itoa((i+1)*slots/masters-1))
		}
		for _, other := range c.Nodes[:i] {
			c.must(s, "CLUSTER", "MEET", "127.0.0.1", other.port(), other.busPort)
		}
	}
	c.await("each node knows all others", func() error {
		for _, s := range c.Nodes {
			nodes, err := s.nodes()
			if err != nil {
				return err
			}
			if len(nodes) != len(c.Nodes) {
				return fmt.Errorf("%s knows %d nodes", s.Addr, len(nodes))
			}
		}
		return nil
	})
	for i, s := range c.Nodes[masters:] {
		c.must(s, "CLUSTER", "REPLICATE", fmt.Sprint(c.must(c.Nodes[i], "CLUSTER", "MYID")))
	}
	c.AwaitHealthy()
	return c
}

func startNode(t testing.TB, args []string) *Server {
	t.Helper()
	bus := strconv.Itoa(freePort(t))
	s := Start(t, append([]string{
		"--cluster-enabled", "yes", "--cluster-port", bus, "--cluster-node-timeout", nodeTimeout,
		"--cluster-require-full-coverage", "no", "--cluster-replica-validity-factor", "0", "--repl-ping-replica-period", "1",
		"--cluster-migration-barrier", "5", // a replica stays with its master
	}, args...)...)
	s.busPort = bus
	return s
}

// AwaitHealthy returns when all running nodes agree on who has each slot, no
// master among them is gone, and each has a replica that follows it.
func (c *Cluster) AwaitHealthy() {
	c.t.Helper()
	c.await("the cluster is whole", func() error {
		var first string
		for _, s := range c.Nodes {
			if !s.Running() {
				continue
			}
			view, err := s.healthy()
			if err != nil {
				return err
			}
			if first == "" {
				first = view
			}
			if view != first {
				return fmt.Errorf("%s sees %s, another node %s", s.Addr, view, first)
			}
		}
		return nil
	})
}

// Master is the node that has the key's slot, as most running nodes see it.
func (c *Cluster) Master(key string) *Server {
	c.t.Helper()
	var owner *Server
	c.await("somebody has the slot of "+key, func() (err error) {
		owner, err = c.owner(key)
		return err
	})
	return owner
}

// owner is the running master of the key's slot by the word of most running nodes.
func (c *Cluster) owner(key string) (*Server, error) {
	votes, running := map[*Server]int{}, 0
	for _, s := range c.Nodes {
		if !s.Running() {
			continue
		}
		running++
		slot, err := s.Query("CLUSTER", "KEYSLOT", key)
		if err != nil {
			return nil, err
		}
		n, _ := slot.(int64)
		nodes, err := s.nodes()
		if err != nil {
			return nil, err
		}
		for _, node := range nodes {
			if node.master() && node.has(n) {
				votes[c.node(node.addr)]++
			}
		}
	}
	for s, n := range votes {
		if s != nil && s.Running() && 2*n > running {
			return s, nil
		}
	}
	return nil, fmt.Errorf("no running master has the slot of %q", key)
}

// node is the node of an address, nil for a stranger.
func (c *Cluster) node(addr string) *Server {
	for _, s := range c.Nodes {
		if s.Addr == addr {
			return s
		}
	}
	return nil
}

// KillMaster kills the master of the key's slot and returns it. Its replica
// takes over after about three seconds: see Master.
func (c *Cluster) KillMaster(key string) *Server {
	c.t.Helper()
	s := c.Master(key)
	s.Kill()
	return s
}

// Failover makes a replica of the key's master the master, as an operator
// does before maintenance: nothing is lost. It returns when most nodes know.
func (c *Cluster) Failover(key string) {
	c.t.Helper()
	old := c.Master(key)
	var replicas []*Server
	c.await("master "+old.Addr+" has a replica", func() (err error) {
		if replicas, err = c.replicas(old); err == nil && len(replicas) == 0 {
			nodes, _ := old.Query("CLUSTER", "NODES")
			err = fmt.Errorf("its nodes:\n%v", nodes)
		}
		return err
	})
	c.must(replicas[0], "CLUSTER", "FAILOVER")
	c.await("the failover is done", func() error {
		if now, err := c.owner(key); err != nil || now == old {
			return fmt.Errorf("the master is still %s, %w", old.Addr, errors.Join(err))
		}
		return nil
	})
}

// replicas are the running replicas of a master.
func (c *Cluster) replicas(master *Server) ([]*Server, error) {
	nodes, err := master.nodes()
	if err != nil {
		return nil, err
	}
	var id string
	for _, n := range nodes {
		if n.addr == master.Addr {
			id = n.id
		}
	}
	var list []*Server
	for _, n := range nodes {
		if s := c.node(n.addr); n.of == id && s != nil && s.Running() {
			list = append(list, s)
		}
	}
	return list, nil
}

// MoveSlot gives the slot of the key to another master, keys and all, as
// redis-cli --cluster reshard does: clients meet ASK while it lasts and MOVED
// afterwards. The Cluster must be whole. It returns when most nodes know.
func (c *Cluster) MoveSlot(key string) {
	c.t.Helper()
	c.AwaitHealthy()
	from := c.Master(key)
	nodes, err := from.nodes()
	if err != nil {
		c.t.Fatal(err)
	}
	slot := fmt.Sprint(c.must(from, "CLUSTER", "KEYSLOT", key))
	var to *Server
	ids := map[*Server]string{}
	for _, n := range nodes {
		s := c.node(n.addr)
		ids[s] = n.id
		if n.master() && len(n.slots) > 0 && s != from && s != nil && s.Running() {
			to = s
		}
	}
	if to == nil {
		c.t.Fatalf("no other master runs that could take slot %s", slot)
	}
	c.must(to, "CLUSTER", "SETSLOT", slot, "IMPORTING", ids[from])
	c.must(from, "CLUSTER", "SETSLOT", slot, "MIGRATING", ids[to])
	for {
		keys, _ := c.must(from, "CLUSTER", "GETKEYSINSLOT", slot, "20").([]any)
		if len(keys) == 0 {
			break
		}
		args := []any{"MIGRATE", "127.0.0.1", to.port(), "", "0", "5000", "KEYS"}
		c.must(from, append(args, keys...)...)
	}
	for _, s := range []*Server{to, from} { // the new owner first: nobody is sent in a circle
		c.must(s, "CLUSTER", "SETSLOT", slot, "NODE", ids[to])
	}
	c.await("the slot has moved", func() error {
		if now, err := c.owner(key); err != nil || now != to {
			return errors.Join(errors.New("most nodes do not know that slot "+slot+" is at "+to.Addr), err)
		}
		return nil
	})
}

// Empty removes every key of the Cluster.
func (c *Cluster) Empty() {
	c.t.Helper()
	for _, s := range c.Nodes {
		if !s.Running() {
			continue
		}
		if _, err := s.Query("FLUSHALL"); err != nil && !strings.HasPrefix(err.Error(), "READONLY") {
			c.t.Fatalf("empty %s: %v", s.Addr, err)
		}
	}
}

func (c *Cluster) must(s *Server, args ...any) any {
	c.t.Helper()
	reply, err := s.Query(args...)
	if err != nil {
		c.t.Fatalf("%v at %s: %v; see %s", args, s.Addr, err, s.log)
	}
	return reply
}

func (c *Cluster) await(what string, is func() error) {
	c.t.Helper()
	await(c.t, what, c.Nodes, is)
}

// clusterNode is one line of CLUSTER NODES.
type clusterNode struct {
	id, addr string
	flags    []string
	of       string // the master's id, "-" for a master
	link     string
	slots    []string
}

func (n clusterNode) master() bool { return slices.Contains(n.flags, "master") }

func (n clusterNode) failing() bool {
	return slices.ContainsFunc(n.flags, func(f string) bool { return strings.HasPrefix(f, "fail") || f == "handshake" || f == "noaddr" })
}

func (n clusterNode) has(slot int64) bool {
	for _, r := range n.slots {
		low, high, isRange := strings.Cut(r, "-")
		if !isRange {
			high = low
		}
		from, err1 := strconv.ParseInt(low, 10, 64)
		to, err2 := strconv.ParseInt(high, 10, 64)
		if err1 == nil && err2 == nil && from <= slot && slot <= to {
			return true
		}
	}
	return false
}

// nodes is what this node knows of all, without those that it forgets.
func (s *Server) nodes() ([]clusterNode, error) {
	reply, err := s.Query("CLUSTER", "NODES")
	if err != nil {
		return nil, err
	}
	text, _ := reply.(string)
	var list []clusterNode
	for line := range strings.Lines(text) {
		words := strings.Fields(line)
		if len(words) < 8 {
			return nil, fmt.Errorf("line %q of CLUSTER NODES", line)
		}
		addr, _, _ := strings.Cut(words[1], "@")
		n := clusterNode{id: words[0], addr: addr, flags: strings.Split(words[2], ","), of: words[3], link: words[7], slots: words[8:]}
		if !slices.Contains(n.flags, "handshake") {
			list = append(list, n)
		}
	}
	return list, nil
}

// healthy says who has which slots as this node sees it, or what is amiss.
func (s *Server) healthy() (view string, err error) {
	info, err := s.Query("CLUSTER", "INFO")
	if err != nil {
		return "", err
	}
	if text, _ := info.(string); !strings.Contains(text, "cluster_state:ok") {
		return "", fmt.Errorf("%s: the state is not ok", s.Addr)
	}
	nodes, err := s.nodes()
	if err != nil {
		return "", err
	}
	var owners []string
	owner := false
	for _, n := range nodes {
		if n.master() && len(n.slots) > 0 {
			owner = owner || n.addr == s.Addr
			if n.failing() {
				return "", fmt.Errorf("%s: master %s is away", s.Addr, n.addr)
			}
			owners = append(owners, n.addr+" "+strings.Join(n.slots, ","))
		}
	}
	slices.Sort(owners)
	return strings.Join(owners, "; "), s.replicated(owner)
}

// replicated returns what is amiss between a master and its replica; owner is
// whether this node has slots.
func (s *Server) replicated(owner bool) error {
	info, err := s.Query("INFO", "replication")
	if err != nil {
		return err
	}
	text, _ := info.(string)
	switch replica := strings.Contains(text, "role:slave"); {
	case replica && !strings.Contains(text, "master_link_status:up"):
		return fmt.Errorf("replica %s does not follow its master yet", s.Addr)
	case !replica && !owner:
		return fmt.Errorf("%s has no slots and follows nobody yet", s.Addr)
	case !replica && !strings.Contains(text, "state=online"):
		return fmt.Errorf("master %s has no replica", s.Addr)
	}
	return nil
}

// Query sends one command on a connection of its own and returns its reply as
// go-redis reads it: text, an int64, a list of them, or nil.
func (s *Server) Query(args ...any) (any, error) {
	client := redis.NewClient(&redis.Options{Addr: s.Addr, PoolSize: 1, MaxRetries: -1, DialTimeout: time.Second, ReadTimeout: 10 * time.Second, DisableIdentity: true})
	defer func() { _ = client.Close() }()
	reply, err := client.Do(s.t.Context(), args...).Result()
	if errors.Is(err, redis.Nil) {
		err = nil // and so is the reply
	}
	return reply, err
}

// Follows says whether this server replicates the other one.
func (s *Server) Follows(master *Server) bool {
	info, err := s.Query("INFO", "replication")
	text, _ := info.(string)
	return err == nil && strings.Contains(text, "role:slave") && strings.Contains(text, "master_port:"+master.port()+"\r\n")
}
