package iam

import (
	"strings"

	"stepback/aws"
	"stepback/aws/server"
)

// provider is an OpenID Connect provider, such as the one GitHub's workflows use.
type provider struct {
	URL     string      `json:"Url"`
	Clients []string    `json:"ClientIDList,omitempty"`
	Prints  []string    `json:"ThumbprintList,omitempty"`
	Created server.Time `json:"CreateDate"`
	Tags    []tag       `json:",omitempty"`
}

type providerRequest struct {
	ARN     string   `json:"OpenIDConnectProviderArn"`
	URL     string   `json:"Url"`
	Clients []string `json:"ClientIDList"`
	Client  string   `json:"ClientID"`
	Prints  []string `json:"ThumbprintList"`
	Tags    []tag
}

type providerMade struct {
	ARN  string `json:"OpenIDConnectProviderArn"`
	Tags []tag  `json:",omitempty"`
}

func (s *Service) createProvider(scope aws.Scope, in *providerRequest) (answer *providerMade, err error) {
	address, ok := strings.CutPrefix(in.URL, "https://")
	if !ok {
		return nil, refuse("InvalidInput", 400, "Invalid Open ID Connect Provider URL")
	}
	return answer, s.change(scope.Account, func(c *change) error {
		if _, found, err := get[provider](s, c.account, providers, address); err != nil || found {
			if err == nil {
				err = exists("Provider with url %s already exists.", in.URL)
			}
			return err
		}
		arn := scope.GlobalARN("iam", providers+"/"+address)
		c.put(providers, address, provider{URL: address, Clients: in.Clients, Prints: in.Prints,
			Created: s.now(), Tags: in.Tags})
		answer = &providerMade{arn, in.Tags}
		return nil
	})
}

// findProvider returns the provider with an ARN.
func (s *Service) findProvider(scope aws.Scope, arn string) (*provider, error) {
	_, address, _ := strings.Cut(arn, providers+"/")
	p, found, err := get[provider](s, scope.Account, providers, address)
	if err == nil && !found {
		err = notFound("OpenIDConnect Provider not found for arn %s", arn)
	}
	return p, err
}

func (s *Service) getProvider(scope aws.Scope, in *providerRequest) (*provider, error) {
	return s.findProvider(scope, in.ARN)
}

type providersAnswer struct {
	List []providerARN `json:"OpenIDConnectProviderList"`
}

type providerARN struct {
	ARN string `json:"Arn"`
}

func (s *Service) listProviders(scope aws.Scope, _ *struct{}) (*providersAnswer, error) {
	all, err := list[provider](s, scope.Account, providers)
	answer := &providersAnswer{[]providerARN{}}
	for _, p := range all {
		answer.List = append(answer.List, providerARN{scope.GlobalARN("iam", providers+"/"+p.URL)})
	}
	return answer, err
}

func (s *Service) changesProvider(scope aws.Scope, arn string, f func(*change, *provider)) (*none, error) {
	return &none{}, s.change(scope.Account, func(c *change) error {
		p, err := s.findProvider(scope, arn)
		if err == nil {
			f(c, p)
		}
		return err
	})
}

func (s *Service) deleteProvider(scope aws.Scope, in *providerRequest) (*none, error) {
	return s.changesProvider(scope, in.ARN, func(c *change, p *provider) { c.remove(providers, p.URL) })
}

func (s *Service) updateThumbprints(scope aws.Scope, in *providerRequest) (*none, error) {
	return s.changesProvider(scope, in.ARN, func(c *change, p *provider) {
		p.Prints = in.Prints
		c.put(providers, p.URL, p)
	})
}

func (s *Service) addClientID(scope aws.Scope, in *providerRequest) (*none, error) {
	return s.changesProvider(scope, in.ARN, func(c *change, p *provider) {
		p.Clients = append(p.Clients, in.Client)
		c.put(providers, p.URL, p)
	})
}
