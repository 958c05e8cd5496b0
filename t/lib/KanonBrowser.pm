# A headless Chromium for a TAP test, driven through chromedriver.
#
#   use KanonBrowser;
#   my $browser = KanonBrowser->start($dir);     # dir: for its profile
#   $browser->screen(400, 'dark');
#   $browser->paper(700);
#   $browser->open('file:///…');
#   my $what = $browser->run('return document.title');
#   my @urls = $browser->requests;               # since the last call
#   my @lines = $browser->console;               # since the last call
#   my $png = $browser->screenshot;
#
# It is gone when the test ends, however it ends.
package KanonBrowser;

use strict;
use warnings;
use HTTP::Tiny;
use IPC::Run;
use JSON::PP;
use MIME::Base64;

my @running;

sub start
{
	my ($class, $dir) = @_;
	my $self = bless { out => '', http => HTTP::Tiny->new(timeout => 60) }, $class;

	$self->{driver} = IPC::Run::start([ 'chromedriver', '--port=0' ],
		'<', \undef, '>', \$self->{out}, '2>&1', IPC::Run::timeout(60));
	push @running, $self;
	$self->{driver}->pump until $self->{out} =~ /started successfully on port (\d+)/;
	$self->{base} = "http://127.0.0.1:$1";

	# The pages are our own and the user may be root, so no sandbox.
	my $session = $self->call('POST', '/session', {
			capabilities => { alwaysMatch => {
				'goog:loggingPrefs' => { browser => 'ALL', performance => 'ALL' },
				'goog:chromeOptions' => { args => [
					qw(--headless=new --no-sandbox --disable-gpu --disable-dev-shm-usage --hide-scrollbars),
					"--user-data-dir=$dir/chromium" ] } } } });
	$self->{base} .= "/session/$session->{sessionId}";
	$self->{session} = 1;
	return $self;
}

sub call
{
	my ($self, $method, $path, $body) = @_;
	my $answer = $self->{http}->request($method, $self->{base} . $path, {
			headers => { 'Content-Type' => 'application/json; charset=utf-8' },
			defined $body ? (content => encode_json($body)) : () });
	my $value = eval { decode_json($answer->{content})->{value} };

	die "chromedriver: $method $path: $answer->{status} " . ($value->{message} // $answer->{content}) . "\n"
	  unless $answer->{success};
	return $value;
}

sub devtools
{
	my ($self, $cmd, %params) = @_;
	return $self->call('POST', '/goog/cdp/execute', { cmd => $cmd, params => \%params });
}

# How wide the window is, and which colours its user prefers: light, dark.
sub screen
{
	my ($self, $width, $scheme) = @_;

	$self->devtools('Emulation.setDeviceMetricsOverride', width => $width, height => 900,
		deviceScaleFactor => 1, mobile => $width < 600 ? JSON::PP::true : JSON::PP::false);
	$self->devtools('Emulation.setEmulatedMedia', media => 'screen',
		features => [ { name => 'prefers-color-scheme', value => $scheme } ]);
}

# As on paper of that width.
sub paper
{
	my ($self, $width) = @_;

	$self->screen($width, 'light');
	$self->devtools('Emulation.setEmulatedMedia', media => 'print');
}

sub open { my ($self, $url) = @_; $self->call('POST', '/url', { url => $url }); }
sub run { my ($self, $script, @args) = @_; return $self->call('POST', '/execute/sync', { script => $script, args => \@args }); }

sub console
{
	my ($self) = @_;
	return map { "$_->{level}: $_->{message}" } @{ $self->call('POST', '/se/log', { type => 'browser' }) };
}

sub requests
{
	my ($self) = @_;
	my @messages = map { decode_json($_->{message})->{message} }
	  @{ $self->call('POST', '/se/log', { type => 'performance' }) };
	return map { $_->{params}{request}{url} } grep { $_->{method} eq 'Network.requestWillBeSent' } @messages;
}

# Of the whole page, as PNG.
sub screenshot
{
	my ($self) = @_;
	return decode_base64($self->devtools('Page.captureScreenshot', captureBeyondViewport => JSON::PP::true)->{data});
}

sub stop
{
	my ($self) = @_;

	eval { $self->call('DELETE', '') } if delete $self->{session};
	if (my $driver = delete $self->{driver})
	{
		eval { $driver->kill_kill(grace => 5); };
	}
}

END
{
	my $code = $?;
	$_->stop for @running;
	$? = $code;
}

1;
