package lambda

import (
	"net"

	"stepback/aws/server"
	"stepback/local/services/lambda/functions"
	"stepback/local/services/lambda/httpevent"
)

// urlConfig is a function URL as the API returns it.
type urlConfig struct {
	FunctionURL      string `json:"FunctionUrl"`
	FunctionArn      string
	AuthType         string
	Cors             *httpevent.CORS `json:",omitempty"`
	CreationTime     string
	LastModifiedTime string
	InvokeMode       string
}

// shownURL returns a function URL with its address: a host name of this machine, with the port that the client used.
func (q *request) shownURL(c *functions.URLConfig) urlConfig {
	host := c.ID + "." + urlHost + q.scope.Region + ".localhost"
	if _, port, err := net.SplitHostPort(q.HTTP.Host); err == nil {
		host = net.JoinHostPort(host, port)
	}
	return urlConfig{"http://" + host + "/", c.FunctionArn, c.AuthType, c.Cors, c.CreationTime, c.LastModifiedTime,
		c.InvokeMode}
}

func (s *Service) createURL(q *request) (*server.Answer, error) { return s.putURL(q, false) }
func (s *Service) updateURL(q *request) (*server.Answer, error) { return s.putURL(q, true) }

func (s *Service) putURL(q *request, update bool) (*server.Answer, error) {
	in, err := decode[functions.URLSettings](q)
	if err != nil {
		return nil, err
	}
	c, err := s.functions.PutURL(q.ctx, q.scope, q.name.Function, q.name.Qualifier, in, update)
	if err != nil {
		return nil, err
	}
	return answer(q.shownURL(c), nil)
}

func (s *Service) getURL(q *request) (*server.Answer, error) {
	c, err := s.functions.URL(q.scope, q.name.Function, q.name.Qualifier)
	if err != nil {
		return nil, err
	}
	return answer(q.shownURL(c), nil)
}

func (s *Service) deleteURL(q *request) (*server.Answer, error) {
	return done(s.functions.DeleteURL(q.ctx, q.scope, q.name.Function, q.name.Qualifier))
}

func (s *Service) listURLs(q *request) (*server.Answer, error) {
	list, err := s.functions.URLs(q.scope, q.name.Function)
	if err != nil {
		return nil, err
	}
	shown := make([]urlConfig, len(list))
	for i := range list {
		shown[i] = q.shownURL(&list[i])
	}
	page, next, err := pageOf(q, shown, func(c urlConfig) string { return c.FunctionArn })
	return answer(struct {
		FunctionURLConfigs []urlConfig `json:"FunctionUrlConfigs"`
		NextMarker         string      `json:",omitempty"`
	}{page, next}, err)
}
