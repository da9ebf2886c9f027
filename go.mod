module github.com/deckhand-bot/deckhand

go 1.26.8
