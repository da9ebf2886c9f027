package slacktest

// view is a modal or a Home and what people do not see of it.
type view struct {
	View
}

func (s *Server) viewJSON(v *view) obj { return obj{"id": v.ID} }
