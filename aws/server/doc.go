// Package server answers the APIs of AWS services as their models describe them (package model): JSON 1.0 and 1.1,
// Query, EC2's Query, REST with JSON and with XML, and RPC v2 over CBOR, as the client asks.
//
// A service is a Config: the name of its model and a Go function for each operation that it serves. The server finds
// the operation of a request, reads the request into a document, checks it against the constraints of the model,
// refusing in AWS's words, hands it to the function, and writes the answer or the modelled error. Operations without a
// function answer NotImplemented, status 501, and name themselves.
//
// Functions work on documents (Operation.Call) or on small structures of the members that they need (Handle). Errors
// are *aws.Error with the name of a modelled shape as their code; their status and their members are the model's.
//
// The server takes account and region from the credential scope of a request's signature (ScopeOf); it checks no
// signature. Bodies are bounded, also those that are compressed, and must come within a while. It knows no service.
package server
