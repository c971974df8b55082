// Package awsjson speaks AWS JSON 1.0 over net/http: it finds the operation that X-Amz-Target names, checks the request
// against the operation's constraints, and shapes results and errors as AWS does. It takes region and account from the
// credential scope of the request's signature, but it checks no signature, and it knows no service.
package awsjson
