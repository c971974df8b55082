// Package httpevent makes events of HTTP requests, in the payload format 2.0 that function URLs and HTTP APIs share,
// and HTTP answers of what functions return. It reads a request's body and writes to a ResponseWriter; it invokes
// nothing and knows no routes.
package httpevent
