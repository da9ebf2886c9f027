package main

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/spf13/cobra"
)

// capacity is how many agents a model's rate limit carries at once.
type capacity struct {
	RPM     int    `json:"rpm"`
	Latency string `json:"latency"`
	Agents  int    `json:"agents"`
}

func capacityCommand(a *cli) *cobra.Command {
	var rpm int
	var latency time.Duration
	c := &cobra.Command{
		Use: "capacity", Short: "Print how many agents a rate limit carries at once: rpm · latency", Args: cobra.NoArgs,
		Example: "  deckhand capacity --rpm 3500 --latency 10s",
		RunE: func(*cobra.Command, []string) error {
			if rpm <= 0 || latency <= 0 {
				return usage("capacity needs --rpm and --latency, both above zero, such as --rpm 3500 --latency 10s")
			}
			found := capacity{RPM: rpm, Latency: latency.String(), Agents: int(float64(rpm) * latency.Minutes())}
			if a.json {
				return json.NewEncoder(a.out).Encode(found)
			}
			_, err := fmt.Fprintf(a.out, "%d agents at once: %d calls a minute, %s each\n", found.Agents, rpm, latency)
			return err
		},
	}
	c.Flags().IntVar(&rpm, "rpm", 0, "`N` model calls that the endpoint allows a minute")
	c.Flags().DurationVar(&latency, "latency", 0, "how long one call takes, such as `10s`")
	return c
}
