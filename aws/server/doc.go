// Package server serves the APIs of AWS services as their models define them (package model): JSON 1.0 and 1.1,
// Query, EC2's Query, REST with JSON and with XML, and RPC v2 over CBOR, whichever the client uses.
//
// A service is a Config: the name of its model and a Go function for each operation that it implements. The server
// finds the operation of a request, decodes the request into a document, checks it against the model's constraints
// with AWS's error messages, passes it to the function, and encodes the answer or the modelled error. Operations
// without a function return NotImplemented, status 501, with their names.
//
// Functions work on documents (Operation.Call) or on small structures of the members that they need (Handle). Errors
// are *aws.Error whose code is the name of a modelled shape; their status and members come from the model.
//
// The server takes account and region from the credential scope of a request's signature (ScopeOf); it does not
// verify signatures. The size of bodies is limited, including compressed ones, and they must arrive in time. The
// package contains no service.
package server
