package environment

import "slices"

// Subscribed returns the environment with further e-mail addresses and HTTPS URLs to report to. One that is named
// twice, or by the environment already, is subscribed once.
func (e Environment) Subscribed(emails, endpoints []string) Environment {
	e.Emails, e.Endpoints = union(e.Emails, emails), union(e.Endpoints, endpoints)
	return e
}

// union has the texts of both in their order, each once.
func union(known, more []string) []string {
	all := slices.Clone(known)
	for _, one := range more {
		if !slices.Contains(all, one) {
			all = append(all, one)
		}
	}
	return all
}
