# serve listens on the loopback address unless told otherwise; for Slack's requests
# over HTTP (Socket Mode needs none): docker run -e DECKHAND_HTTP_ADDR=:8080 -p 127.0.0.1:8080:8080 …
FROM golang:1.26 AS build
WORKDIR /src
COPY go.mod go.sum ./
RUN go mod download
COPY . .
ARG VERSION=devel
RUN CGO_ENABLED=0 go build -trimpath -buildvcs=false -ldflags "-s -w -X main.version=${VERSION}" -o /out/deckhand ./cmd/deckhand \
 && mkdir -p /out/data /out/workspace

# Static: no shell and no libraries, but root certificates and a nonroot user (65532).
FROM gcr.io/distroless/static-debian12:nonroot
COPY --from=build /out/deckhand /usr/local/bin/deckhand
COPY --from=build --chown=65532:65532 /out/data /data
COPY --from=build --chown=65532:65532 /out/workspace /workspace
ENV DECKHAND_DATA_DIR=/data DECKHAND_WORKSPACE=/workspace
VOLUME ["/data", "/workspace"]
WORKDIR /workspace
USER 65532:65532
ENTRYPOINT ["/usr/local/bin/deckhand"]
CMD ["serve"]
