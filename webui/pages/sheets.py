"""Responses with printable sheets."""

from __future__ import annotations

from flask import Response

from calibration.sheets.catalogue import sheet_pdf
from table.errors import InputError, message_of
from webui.i18n import language
from webui.security.requests import Refusal


def sheet_answer(sheet: str, paper: str) -> Response:
    """The PDF of a sheet on a paper, in the page's language; raises Refusal for an unknown one."""
    try:
        return Response(sheet_pdf(sheet, paper, language()), mimetype="application/pdf")
    except InputError as error:
        raise Refusal(404, "no_sheet", message_of(error)) from error
