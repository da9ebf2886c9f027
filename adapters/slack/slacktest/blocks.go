package slacktest

import "encoding/json"

const maxMarkdown = 12000

type where int

const (
	inMessage where = iota
	inModal
	inHome
)

func (s *Server) checkBlocks(raw json.RawMessage, _ where) (json.RawMessage, error) { return raw, nil }
