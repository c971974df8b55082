package functions

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/base32"
	"maps"
	"slices"
	"strings"

	"stepback/aws"
	"stepback/local/services/lambda/httpevent"
)

// URLSettings holds the settings in requests about a function URL. Nil and empty members stay unchanged.
type URLSettings struct {
	AuthType   string // NONE or AWS_IAM
	Cors       *httpevent.CORS
	InvokeMode string // BUFFERED or RESPONSE_STREAM
}

// URLConfig is the stored URL of a function or alias.
type URLConfig struct {
	// ID is the first label of the URL's host. Function and Qualifier name the function that the URL invokes.
	ID                  string
	Function, Qualifier string
	FunctionArn         string
	AuthType            string
	Cors                *httpevent.CORS `json:",omitempty"`
	InvokeMode          string
	CreationTime        string
	LastModifiedTime    string
}

const (
	buffered  = "BUFFERED"
	urlMoment = "2006-01-02T15:04:05.000000000Z"
)

// PutURL creates the URL of a function, or of the alias that qualifier names. If update is true it changes the
// existing URL.
func (s *Service) PutURL(ctx context.Context, scope aws.Scope, name, qualifier string, in *URLSettings,
	update bool) (*URLConfig, error) {
	var made URLConfig
	_, err := s.change(ctx, scope, name, func(a *area, r *record) error {
		arn := a.arn(name) + ending(qualifier)
		old, ok := r.URLs[qualifier]
		switch _, alias := r.Aliases[qualifier]; {
		case qualifier != "" && !alias:
			return notFound("Function does not exist")
		case update && !ok:
			return noURL()
		case !update && ok:
			return conflict("Failed to create function url config for [functionArn = %s]. Error message:  FunctionUrlConfig exists for this Lambda function",
				arn)
		}
		now := s.opts.Now().UTC().Format(urlMoment)
		made = old
		if !ok {
			made = URLConfig{ID: urlID(), Function: name, Qualifier: qualifier, FunctionArn: arn, InvokeMode: buffered,
				CreationTime: now}
		}
		made.AuthType, made.LastModifiedTime = cmp.Or(in.AuthType, made.AuthType), now
		made.InvokeMode = cmp.Or(in.InvokeMode, made.InvokeMode)
		if in.Cors != nil {
			made.Cors = in.Cors
		}
		if r.URLs == nil {
			r.URLs = map[string]URLConfig{}
		}
		r.URLs[qualifier] = made
		return nil
	})
	if err != nil {
		return nil, err
	}
	return &made, nil
}

// urlID returns a random URL ID of 32 letters and digits.
func urlID() string {
	const bytes = 20
	sum := sha256.Sum256([]byte(aws.NewID()))
	return strings.ToLower(base32.StdEncoding.EncodeToString(sum[:bytes]))
}

func noURL() error { return notFound("The resource you requested does not exist.") }

// URL returns the URL of a function or alias.
func (s *Service) URL(scope aws.Scope, name, qualifier string) (*URLConfig, error) {
	_, r, err := s.find(scope, name, "")
	if err != nil {
		return nil, noURL()
	}
	c, ok := r.URLs[qualifier]
	if !ok {
		return nil, noURL()
	}
	return &c, nil
}

// URLs returns the URLs of a function and its aliases.
func (s *Service) URLs(scope aws.Scope, name string) ([]URLConfig, error) {
	_, r, err := s.find(scope, name, "")
	if err != nil {
		return nil, err
	}
	list := make([]URLConfig, 0, len(r.URLs))
	for _, qualifier := range slices.Sorted(maps.Keys(r.URLs)) {
		list = append(list, r.URLs[qualifier])
	}
	return list, nil
}

// DeleteURL removes the URL of a function or alias.
func (s *Service) DeleteURL(ctx context.Context, scope aws.Scope, name, qualifier string) error {
	_, err := s.change(ctx, scope, name, func(_ *area, r *record) error {
		if _, ok := r.URLs[qualifier]; !ok {
			return noURL()
		}
		delete(r.URLs, qualifier)
		return nil
	})
	return err
}

// Streams reports whether the URL passes on a response while the function writes it.
func (c *URLConfig) Streams() bool { return c.InvokeMode == "RESPONSE_STREAM" }

// FindURL returns the URL with an ID, and the scope of its function; false if there is none.
func (s *Service) FindURL(id string) (aws.Scope, *URLConfig, bool) {
	s.mu.RLock()
	areas := slices.Collect(maps.Values(s.areas))
	s.mu.RUnlock()
	for _, a := range areas {
		a.mu.RLock()
		for _, r := range a.functions {
			for _, c := range r.URLs {
				if c.ID == id {
					a.mu.RUnlock()
					return a.scope, &c, true
				}
			}
		}
		a.mu.RUnlock()
	}
	return aws.Scope{}, nil, false
}
