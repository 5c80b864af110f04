pub(super) fn demo(_args: &super::args::DemoArgs, _process: &super::Process) -> u8 {
    super::exit::USAGE
}
