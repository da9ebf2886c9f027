package discordtest

import (
	"bytes"
	"io"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/bwmarrin/discordgo"
)

func TestTheBotIsWhoItIs(t *testing.T) {
	t.Parallel()
	s := open(t, Config{})
	d := client(t, s)
	me, err := d.User("@me")
	ok(t, err)
	app, err := d.Application("@me")
	ok(t, err)
	if me.ID != BotUser || !me.Bot || app.ID != App || app.VerifyKey != s.PublicKey {
		t.Fatalf("got %+v and %+v", me, app)
	}
	g, err := d.Guild(Guild)
	ok(t, err)
	m, err := d.GuildMember(Guild, Ann)
	ok(t, err)
	if g.OwnerID != Olga || len(m.Roles) != 1 || m.Roles[0] != Crew || m.User.GlobalName != "Ann" {
		t.Fatalf("got guild %+v and member %+v", g, m)
	}
	_, err = d.GuildMember(Guild, Eve)
	refused(t, err, 404, 10007)
	d.Token = "Bot nonsense"
	_, err = d.User("@me")
	refused(t, err, 401, 0)
}

func TestAMessageIsPostedEditedReadAndDeleted(t *testing.T) {
	t.Parallel()
	s := open(t, Config{})
	d := client(t, s)
	var ids []string
	for i := range 5 {
		m, err := d.ChannelMessageSend(General, "number "+strconv.Itoa(i))
		ok(t, err)
		ids = append(ids, m.ID)
	}
	_, err := d.ChannelMessageEdit(General, ids[1], "one")
	ok(t, err)
	ok(t, d.ChannelMessageDelete(General, ids[0]))
	after, err := d.ChannelMessages(General, 2, "", ids[0], "")
	ok(t, err)
	if len(after) != 2 || after[0].ID != ids[2] || after[1].Content != "one" || after[1].EditedTimestamp == nil {
		t.Fatalf("after: got %v", after)
	}
	before, err := d.ChannelMessages(General, 2, ids[4], "", "")
	ok(t, err)
	if len(before) != 2 || before[0].ID != ids[3] || before[1].ID != ids[2] {
		t.Fatalf("before: got %v", before)
	}
	around, err := d.ChannelMessages(General, 3, "", "", ids[3])
	ok(t, err)
	if len(around) != 3 || around[1].ID != ids[3] {
		t.Fatalf("around: got %v", around)
	}
	m, _ := s.Message(General, ids[1])
	if len(m.Edits) != 1 || m.Edits[0].Content != "number 1" {
		t.Fatalf("edits: got %+v", m.Edits)
	}
	_, err = d.ChannelMessage(General, ids[0])
	refused(t, err, 404, 10008)
	if got := len(s.FromBot()); got != 4 {
		t.Fatalf("the bot has %d messages, want 4", got)
	}
}

func TestWhatDiscordRefuses(t *testing.T) {
	s := open(t, Config{Limits: Limits{Off: true}})
	d := client(t, s)
	secret := "110000000000000077"
	s.AddChannel(Channel{ID: secret, Name: "secret", Overwrites: []Overwrite{{ID: Guild, Deny: ViewChannel}}})
	mute := "110000000000000078"
	s.AddChannel(Channel{ID: mute, Name: "mute", Overwrites: []Overwrite{{ID: BotUser, Type: 1, Deny: SendMessages}}})
	said := s.Say(Ann, General, "hello")
	send := func(channel string, m *discordgo.MessageSend) error {
		_, err := d.ChannelMessageSendComplex(channel, m)
		return err
	}
	long := strings.Repeat("é", 2001)
	for name, c := range map[string]struct {
		err          error
		status, code int
	}{
		"no channel":      {send("1", &discordgo.MessageSend{Content: "x"}), 404, 10003},
		"no access":       {send(secret, &discordgo.MessageSend{Content: "x"}), 403, 50001},
		"no right":        {send(mute, &discordgo.MessageSend{Content: "x"}), 403, 50013},
		"empty":           {send(General, &discordgo.MessageSend{Content: " "}), 400, 50006},
		"too long":        {send(General, &discordgo.MessageSend{Content: long}), 400, 50035},
		"embed fields":    {send(General, &discordgo.MessageSend{Embeds: []*discordgo.MessageEmbed{{Description: strings.Repeat("x", 4000)}, {Description: strings.Repeat("y", 2001)}}}), 400, 50035},
		"another's":       {func() error { _, err := d.ChannelMessageEdit(General, said, "x"); return err }(), 403, 50005},
		"an emoji's name": {d.MessageReactionAdd(General, said, "eyes"), 400, 10014},
		"forum":           {send(Forum, &discordgo.MessageSend{Content: "x"}), 400, 50008},
	} {
		t.Run(name, func(t *testing.T) { refused(t, c.err, c.status, c.code) })
	}
	body := refused(t, send(General, &discordgo.MessageSend{Content: long}), 400, 50035)
	if want := `"content":{"_errors":[{"code":"BASE_TYPE_MAX_LENGTH","message":"Must be 2000 or fewer in length."}]}`; !strings.Contains(body, want) {
		t.Fatalf("got %s", body)
	}
	ok(t, send(General, &discordgo.MessageSend{Content: long[:4000]}))
}

// nonced is what the library cannot send.
type nonced struct {
	Content string `json:"content"`
	Nonce   string `json:"nonce"`
	Enforce bool   `json:"enforce_nonce"`
}

func post(d *discordgo.Session, channel string, body any) (*discordgo.Message, error) {
	raw, err := d.RequestWithBucketID("POST", discordgo.EndpointChannelMessages(channel), body, discordgo.EndpointChannelMessages(channel))
	if err != nil {
		return nil, err
	}
	var m discordgo.Message
	return &m, discordgo.Unmarshal(raw, &m)
}

func TestANonceMakesOneMessage(t *testing.T) {
	t.Parallel()
	s := open(t, Config{})
	d := client(t, s)
	s.Fail(PostMessage, 1, LostAnswer())
	if _, err := post(d, General, nonced{"once", "k1234", true}); err == nil {
		t.Fatal("the lost answer came")
	}
	again, err := post(d, General, nonced{"once", "k1234", true})
	ok(t, err)
	all := s.Messages(General)
	if len(all) != 1 || all[0].ID != again.ID || all[0].Nonce != "k1234" {
		t.Fatalf("got %+v, answered %s", all, again.ID)
	}
	elsewhere, err := post(d, Elsewhere, nonced{"once", "k1234", true})
	ok(t, err)
	loose, err := post(d, General, nonced{"once", "k1234", false})
	ok(t, err)
	if elsewhere.ID == again.ID || loose.ID == again.ID {
		t.Fatal("another channel or a nonce that is not enforced gave the first message")
	}
	_, err = post(d, General, nonced{"x", strings.Repeat("n", 26), true})
	refused(t, err, 400, 50035)
}

func TestANonceIsForgotten(t *testing.T) {
	t.Parallel()
	s := open(t, Config{NonceLife: time.Nanosecond})
	d := client(t, s)
	first, err := post(d, General, nonced{"once", "k", true})
	ok(t, err)
	second, err := post(d, General, nonced{"once", "k", true})
	ok(t, err)
	if first.ID == second.ID {
		t.Fatal("the nonce was remembered")
	}
}

func TestAttachments(t *testing.T) {
	t.Parallel()
	s := open(t, Config{})
	d := client(t, s)
	data := bytes.Repeat([]byte("report\n"), 1000)
	m, err := d.ChannelMessageSendComplex(General, &discordgo.MessageSend{Content: "here", Files: []*discordgo.File{{Name: "REPORT.md", Reader: bytes.NewReader(data)}}})
	ok(t, err)
	if len(m.Attachments) != 1 || m.Attachments[0].Filename != "REPORT.md" || m.Attachments[0].Size != len(data) {
		t.Fatalf("got %+v", m.Attachments)
	}
	resp, err := d.Client.Get(m.Attachments[0].URL)
	ok(t, err)
	defer func() { _ = resp.Body.Close() }()
	got, err := io.ReadAll(resp.Body)
	ok(t, err)
	if !bytes.Equal(got, data) {
		t.Fatalf("got %d bytes", len(got))
	}
	_, err = d.ChannelMessageSendComplex(General, &discordgo.MessageSend{Files: []*discordgo.File{{Name: "big", Reader: bytes.NewReader(make([]byte, maxUpload+1))}}})
	refused(t, err, 413, 40005)
}

func TestMentionsPingOnlyWhomTheyMay(t *testing.T) {
	s := open(t, Config{Limits: Limits{Off: true}})
	d := client(t, s)
	words := "<@" + Ann + "> <@&" + Crew + "> @everyone `<@" + Ben + ">`"
	said := s.Say(Gus, General, "hello")
	for name, c := range map[string]struct {
		send     *discordgo.MessageSend
		users    int
		roles    int
		everyone bool
	}{
		"nothing said":  {&discordgo.MessageSend{Content: words}, 1, 1, true},
		"nobody":        {&discordgo.MessageSend{Content: words, AllowedMentions: &discordgo.MessageAllowedMentions{}}, 0, 0, false},
		"by id":         {&discordgo.MessageSend{Content: words, AllowedMentions: &discordgo.MessageAllowedMentions{Users: []string{Ann}}}, 1, 0, false},
		"roles":         {&discordgo.MessageSend{Content: words, AllowedMentions: &discordgo.MessageAllowedMentions{Parse: []discordgo.AllowedMentionType{"roles"}}}, 0, 1, false},
		"a reply":       {&discordgo.MessageSend{Content: "yes", Reference: &discordgo.MessageReference{MessageID: said, ChannelID: General}}, 1, 0, false},
		"a quiet reply": {&discordgo.MessageSend{Content: "yes", Reference: &discordgo.MessageReference{MessageID: said, ChannelID: General}, AllowedMentions: &discordgo.MessageAllowedMentions{}}, 0, 0, false},
	} {
		t.Run(name, func(t *testing.T) {
			m, err := d.ChannelMessageSendComplex(General, c.send)
			ok(t, err)
			got, _ := s.Message(General, m.ID)
			if len(got.Pings.Users) != c.users || len(got.Pings.Roles) != c.roles || got.Pings.Everyone != c.everyone {
				t.Fatalf("pinged %+v", got.Pings)
			}
		})
	}
	people := s.Say(Ann, General, "@everyone hello")
	if m, _ := s.Message(General, people); m.Pings.Everyone {
		t.Fatal("Ann may not ping everybody and did")
	}
}

func TestReactionsAndDirectMessages(t *testing.T) {
	t.Parallel()
	s := open(t, Config{Limits: Limits{Off: true}})
	d := client(t, s)
	said := s.Say(Ann, General, "hello")
	ok(t, d.MessageReactionAdd(General, said, "👀"))
	ok(t, d.MessageReactionAdd(General, said, "👀"))
	m, _ := s.Message(General, said)
	if len(m.Reactions) != 1 || len(m.Reactions[0].Users) != 1 {
		t.Fatalf("got %+v", m.Reactions)
	}
	ok(t, d.MessageReactionRemove(General, said, "👀", "@me"))
	if m, _ := s.Message(General, said); len(m.Reactions) != 0 {
		t.Fatalf("got %+v", m.Reactions)
	}
	dm, err := d.UserChannelCreate(Ann)
	ok(t, err)
	_, err = d.ChannelMessageSend(dm.ID, "in private")
	ok(t, err)
	if dm.ID != s.DMChannel(Ann) || len(s.Messages(dm.ID)) != 1 {
		t.Fatal("the direct message is somewhere else")
	}
	s.AddUser(User{ID: Ben, Name: "ben", NoDM: true})
	dm, err = d.UserChannelCreate(Ben)
	ok(t, err)
	_, err = d.ChannelMessageSend(dm.ID, "in private")
	refused(t, err, 403, 50007)
}
