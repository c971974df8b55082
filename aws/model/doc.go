// Package model contains the API of every AWS service: operations, shapes, constraints, errors and protocols, from
// AWS's own models. It builds the schemas with which smithy-go's protocols encode and decode requests and
// responses.
//
// The models of all services are one archive inside the binary, models.zip, which `make models` writes. It has one
// file for each service, with one line for each operation and shape. A file is read when its service is first
// requested, and a line when it is first used. The package calls no service and reads no file at run time.
//
// The models are botocore's. `make refresh-models` adds what AWS's newer clients for JavaScript know; additions.txt lists
// it with the clients' versions. Added members have no constraints, and added numbers are whole numbers.
//
// # Finding
//
// Services have the names used in Resources of AWS SDK integrations. These are the names of the SDK for Java in
// lower case:
//
//	s, err := model.Find("dynamodb")     // *UnknownServiceError, with similar names
//	o, err := s.Operation("PutItem")     // *UnknownOperationError
//	o.Input.Member("TableName").Required // true
//	o.Errors                             // the shapes of its modelled errors, with codes and statuses
//
// All values are shared and must not be changed. Everything is safe for concurrent use.
//
// # Documents
//
// The document of a shape is a value of the shape as a JSON tree. Its members have the model's names, whatever the
// protocol:
//
//   - a structure or union is an object; absent and null members are omitted;
//   - a list is an array, a map is an object;
//   - a timestamp is the number of seconds since 1970, with a fraction (TimeOf, OfTime);
//   - a blob is a string in Base64 (BlobOf, OfBlob);
//   - a float or double that is not a JSON number is "NaN", "Infinity" or "-Infinity";
//   - a document type (Shape.Type Document) is any JSON.
//
// # Protocols
//
// Service.Bind returns the schemas of a service for one protocol. A client writes a request with the input's schema
// and reads the response with the output's; a server uses them the other way round:
//
//	b := s.Bind(model.JSON)
//	client := b.Client()                        // smithy-go's ClientProtocol
//	op := b.Operation(o)                        // *smithy.OperationSchema, input and output
//	turned := b.Turned(o)                       // input and output exchanged, for a server
//	in := b.Input(o, doc)                       // *Value: smithy.Serializable and smithy.Deserializable
//	out := b.Output(o, jsonvalue.Value{})       // filled by Deserialize; out.Value afterwards
package model
