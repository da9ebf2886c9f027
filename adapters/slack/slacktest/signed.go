package slacktest

func (s *Server) deliverHTTP(d *delivery, envelope string, attempt int, reason string) {}
