package web_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"

	"github.com/foretick/foretick"
	"github.com/foretick/foretick/inspect/web"
	"github.com/foretick/foretick/server"
	"github.com/foretick/foretick/simtest"
)

// A server's page is mounted at a path that ends with a slash. Its key is in the log, and in URL.
func ExampleServer() {
	srv, err := simtest.New(1).Serve(server.Config{Protocol: foretick.NewProtocol("empty", 1)})
	if err != nil {
		panic(err)
	}
	mux := http.NewServeMux()

	page := web.Server(srv, web.Config{})
	mux.Handle("/inspect/", page)

	stranger := httptest.NewRecorder()
	mux.ServeHTTP(stranger, httptest.NewRequest(http.MethodGet, "http://localhost:8080/inspect/", nil))
	operator := httptest.NewRecorder()
	mux.ServeHTTP(operator, httptest.NewRequest(http.MethodGet, page.URL("http://localhost:8080/inspect/"), nil))
	fmt.Println(stranger.Code, operator.Code)
	// Output: 403 303
}
