package events

import (
	"context"
	"encoding/json"

	"stepback/aws"
	"stepback/aws/server"
	"stepback/jsonvalue"
	"stepback/local/services/documents"
)

type connectionRequest struct {
	Name, AuthorizationType          string
	Description, KmsKeyIdentifier    *string
	AuthParameters                   jsonvalue.Value
	InvocationConnectivityParameters jsonvalue.Value
}

// connectionAnswer is the response of operations that change a connection.
type connectionAnswer struct {
	ConnectionArn, ConnectionState string
	CreationTime, LastModifiedTime server.Time
	LastAuthorizedTime             server.Time `json:",omitzero"`
}

func (c *connection) answer() connectionAnswer {
	return connectionAnswer{c.arn(), c.State, timeOf(c.Created), timeOf(c.Modified), timeOf(c.Authorized)}
}

type createConnectionAnswer struct {
	ConnectionArn, ConnectionState string
	CreationTime, LastModifiedTime server.Time
}

func (s *Service) createConnection(ctx context.Context, scope aws.Scope, in *connectionRequest) (*createConnectionAnswer,
	error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	private := in.InvocationConnectivityParameters.Len() > 0
	if err := rejectUnsupported(map[string]bool{"InvocationConnectivityParameters": private}); err != nil {
		return nil, err
	}
	if _, err := s.findConnection(scope, in.Name); err == nil {
		return nil, exists("Connection %s already exists.", in.Name)
	} else if !isRefusal(err) {
		return nil, err
	}
	now := s.now().UnixMilli()
	c := &connection{Account: scope.Account, Region: scope.Region, Name: in.Name, ID: aws.NewID(), State: authorized,
		Kind: in.AuthorizationType, Created: now, Modified: now, Authorized: now}
	if err := s.set(ctx, in, c); err != nil {
		return nil, err
	}
	return &createConnectionAnswer{c.arn(), c.State, timeOf(now), timeOf(now)}, s.keepConnection(ctx, c)
}

// set applies a request to a connection.
func (s *Service) set(ctx context.Context, in *connectionRequest, c *connection) error {
	if in.Description != nil {
		c.Description = *in.Description
	}
	if in.KmsKeyIdentifier != nil {
		c.KmsKey = *in.KmsKeyIdentifier
	}
	if err := c.check(in.AuthParameters); err != nil {
		return err
	}
	return s.seal(ctx, c, in.AuthParameters)
}

func (s *Service) updateConnection(ctx context.Context, scope aws.Scope, in *connectionRequest) (*connectionAnswer, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	c, err := s.findConnection(scope, in.Name)
	if err != nil {
		return nil, err
	}
	if in.AuthorizationType != "" {
		c.Kind = in.AuthorizationType
	}
	if in.AuthParameters.IsNull() {
		text, err := s.open(ctx, c)
		if err != nil {
			return nil, err
		}
		if in.AuthParameters, err = jsonvalue.Parse(text); err != nil {
			return nil, err
		}
	}
	if err := s.set(ctx, in, c); err != nil {
		return nil, err
	}
	now := s.now().UnixMilli()
	c.State, c.Modified, c.Authorized = authorized, now, now
	answer := c.answer()
	s.tokens.forget(c.arn())
	return &answer, s.keepConnection(ctx, c)
}

func (s *Service) deauthorizeConnection(_ context.Context, scope aws.Scope, in *connectionRequest) (*connectionAnswer,
	error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	c, err := s.findConnection(scope, in.Name)
	if err != nil {
		return nil, err
	}
	c.State, c.Modified, c.Sealed = deauthorized, s.now().UnixMilli(), ""
	answer := c.answer()
	s.tokens.forget(c.arn())
	return &answer, s.o.Store.Write(func(b *documents.Batch) error {
		s.dropSecret(b, c)
		return putJSON(b, s.table, c.key(), c)
	})
}

func (s *Service) deleteConnection(_ context.Context, scope aws.Scope, in *connectionRequest) (*connectionAnswer, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	c, err := s.findConnection(scope, in.Name)
	if err != nil {
		return nil, err
	}
	c.State = "DELETING"
	answer := c.answer()
	s.tokens.forget(c.arn())
	return &answer, s.o.Store.Write(func(b *documents.Batch) error {
		s.dropSecret(b, c)
		b.Delete(s.table, c.key())
		return nil
	})
}

type describeConnectionAnswer struct {
	ConnectionArn, Name, ConnectionState, AuthorizationType, SecretArn string
	Description                                                        string `json:",omitempty"`
	KmsKeyIdentifier                                                   string `json:",omitempty"`
	StateReason                                                        string `json:",omitempty"`
	AuthParameters                                                     json.RawMessage
	InvocationConnectivityParameters                                   json.RawMessage `json:",omitempty"`
	CreationTime, LastModifiedTime                                     server.Time
	LastAuthorizedTime                                                 server.Time `json:",omitzero"`
}

func (s *Service) describeConnection(_ context.Context, scope aws.Scope, in *connectionRequest) (*describeConnectionAnswer,
	error) {
	c, err := s.findConnection(scope, in.Name)
	if err != nil {
		return nil, err
	}
	return &describeConnectionAnswer{ConnectionArn: c.arn(), Name: c.Name, ConnectionState: c.State,
		AuthorizationType: c.Kind, SecretArn: c.secretARN(), Description: c.Description, KmsKeyIdentifier: c.KmsKey,
		AuthParameters: c.Auth, CreationTime: timeOf(c.Created),
		LastModifiedTime: timeOf(c.Modified), LastAuthorizedTime: timeOf(c.Authorized)}, nil
}

type listConnectionsRequest struct {
	paged
	NamePrefix, ConnectionState string
}

type listedConnection struct {
	ConnectionArn, Name, ConnectionState, AuthorizationType string
	StateReason                                             string `json:",omitempty"`
	CreationTime, LastModifiedTime                          server.Time
	LastAuthorizedTime                                      server.Time `json:",omitzero"`
}

type connectionsAnswer struct {
	Connections []listedConnection
	NextToken   string `json:",omitempty"`
}

func (s *Service) listConnections(_ context.Context, scope aws.Scope, in *listConnectionsRequest) (*connectionsAnswer,
	error) {
	all := []listedConnection{}
	prefix := (&connection{Account: scope.Account, Region: scope.Region, Name: in.NamePrefix}).key()
	if err := s.table.Scan(prefix, func(_ string, text []byte) error {
		var c connection
		err := json.Unmarshal(text, &c)
		if err == nil && (in.ConnectionState == "" || in.ConnectionState == c.State) {
			all = append(all, listedConnection{ConnectionArn: c.arn(), Name: c.Name, ConnectionState: c.State,
				AuthorizationType: c.Kind, CreationTime: timeOf(c.Created), LastModifiedTime: timeOf(c.Modified),
				LastAuthorizedTime: timeOf(c.Authorized)})
		}
		return err
	}); err != nil {
		return nil, err
	}
	part, next, err := page(s, in.paged, []string{"ListConnections", prefix, in.ConnectionState}, all,
		func(c listedConnection) string { return c.Name })
	return &connectionsAnswer{part, next}, err
}
